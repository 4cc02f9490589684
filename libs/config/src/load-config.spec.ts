import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OWN_VARIABLES } from './environment.js';
import { loadConfig } from './load-config.js';
import { ConfigFaults } from './fault.js';
import { digestKey } from './key-digest.js';
import { NOT_BUILT_YET } from './unsupported.js';

const KEY = digestKey('a team key');

const MINIMAL = `
accounts:
  - { id: main, baseUrl: 'https://api.example.com/v1/', apiKey: k, models: { m: {} } }
teams:
  - { id: search, keys: ['${KEY}'] }
`;

function load(text: string, env: Record<string, string> = {}) {
  return loadConfig({ WEIR_CONFIG: 'weir.yaml', ...env }, () => text);
}

function noFile(): never {
  throw new Error('no file may be read');
}

function faultsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof ConfigFaults) return thrown.faults.map(({ path, value }) => `${path}: ${value}`);
    throw thrown;
  }
  return [];
}

describe('a file that says the least', () => {
  it('gets every default', () => {
    const config = load(MINIMAL);
    expect(config).toMatchObject({
      source: 'weir.yaml',
      server: {
        host: '127.0.0.1',
        port: 8080,
        bodyLimitBytes: 10485760,
        drainMs: 30000,
        earlyOpenAfterMs: 0,
      },
      admin: { keys: [], loopbackOnly: false },
      timeouts: { connectMs: 5000, headersMs: 60000, firstFrameMs: 60000, idleMs: 60000, totalMs: 600000 },
      breaker: { minAttempts: 20, failureShare: 0.5, windowMs: 10000, openMs: 5000, maxOpenMs: 60000 },
      queue: { maxWaitMs: 60000, maxDepth: 10000, maxDepthPerTeam: 2000, delaySpreadMs: 250 },
      retry: { maxAttempts: 4, budgetRatio: 0.1, maxHintMs: 60000 },
      store: { kind: 'memory' },
      disconnect: 'abort',
    });
    expect(config.accounts[0]).toMatchObject({
      profile: 'generic',
      baseUrl: 'https://api.example.com/v1',
      limits: [],
      windowMs: 60000,
      concurrency: undefined,
      refundRequestsOn429: false,
      models: [{ name: 'm', limits: [], price: undefined, midStream: 'fail' }],
    });
    expect(config.teams).toEqual([
      {
        id: 'search',
        keys: [KEY],
        weight: 1,
        limits: [],
        budget: undefined,
        promptTemplates: [],
        loopbackOnly: false,
      },
    ]);
  });

  it('is told that nothing is paced without limits', () => {
    expect(load(MINIMAL).notices).toEqual(['Account main has no limits: its requests are not paced.']);
  });

  it('is frozen to the last leaf', () => {
    const config = load(MINIMAL);
    const open: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [key, entry] of Object.entries(value)) visit(entry, `${path}.${key}`);
    };
    visit(config, 'config');
    expect(open).toEqual([]);
  });
});

describe('without a file', () => {
  it('points at the simulator with the simulator’s own limits', () => {
    const config = loadConfig({}, noFile);
    expect(config.accounts).toHaveLength(1);
    expect(config.accounts[0]).toMatchObject({
      id: 'main',
      baseUrl: 'http://127.0.0.1:9400/v1',
      concurrency: 100,
    });
    const shape = { kind: 'sliding' };
    expect(config.accounts[0]?.limits).toEqual([
      { unit: 'requests', limit: 600, windowMs: 60000, shape },
      { unit: 'tokens', limit: 1000000, windowMs: 60000, shape },
      { unit: 'slots', limit: 100, windowMs: 60000, shape },
    ]);
    expect(Object.keys(config.routes)).toEqual(
      expect.arrayContaining(['gemini-2.5-pro', 'gemini-2.5-flash']),
    );
    expect(config.notices).toEqual([]);
  });

  it('knows the key dev, from loopback only', () => {
    const { teams, admin } = loadConfig({}, noFile);
    expect(teams).toEqual([
      expect.objectContaining({ id: 'dev', keys: [digestKey('dev')], loopbackOnly: true }),
    ]);
    expect(admin).toEqual({ keys: [digestKey('dev')], loopbackOnly: true });
  });

  it('follows SIMULATOR_PORT', () => {
    expect(loadConfig({ SIMULATOR_PORT: '9411' }, noFile).accounts[0]?.baseUrl).toBe(
      'http://127.0.0.1:9411/v1',
    );
  });

  it('takes a real provider from the environment, and says what it had to assume', () => {
    const env = {
      UPSTREAM_BASE_URL: 'https://api.example.com/v1',
      UPSTREAM_API_KEY: 'k',
      UPSTREAM_RPM: '90',
    };
    const config = loadConfig({ ...env, UPSTREAM_MODELS: 'a/b, c', UPSTREAM_PROFILE: 'openai' }, noFile);
    expect(config.accounts[0]).toMatchObject({ profile: 'openai', baseUrl: 'https://api.example.com/v1' });
    expect(config.accounts[0]?.apiKey.reveal()).toBe('k');
    expect(config.accounts[0]?.limits[0]).toMatchObject({ limit: 90, shape: { kind: 'unknown' } });
    expect(Object.keys(config.routes)).toEqual(['a/b', 'c']);
    expect(config.notices).toEqual(['UPSTREAM_TPM is not set: pacing at 1000000 tokens a minute.']);
  });

  it.each([
    [{ UPSTREAM_API_KEY: 'k' }, ['UPSTREAM_BASE_URL: (missing)']],
    [{ UPSTREAM_BASE_URL: 'https://x/v1' }, ['UPSTREAM_API_KEY: (missing)']],
    [{ UPSTREAM_BASE_URL: 'ftp://x', UPSTREAM_API_KEY: 'k' }, ['UPSTREAM_BASE_URL: "ftp://x"']],
    [
      { UPSTREAM_BASE_URL: 'https://x', UPSTREAM_API_KEY: 'k', UPSTREAM_RPM: 'many' },
      ['UPSTREAM_RPM: "many"'],
    ],
    [{ UPSTREAM_BASE_URL: 'https://x', UPSTREAM_API_KEY: 'k', UPSTREAM_TPM: '0' }, ['UPSTREAM_TPM: 0']],
    [
      { UPSTREAM_BASE_URL: 'https://x', UPSTREAM_API_KEY: 'k', UPSTREAM_MODELS: 'a,,b' },
      ['UPSTREAM_MODELS: ""'],
    ],
    [{ UPSTREAM_BASE_URL: 'https://x', UPSTREAM_API_KEY: 'a b' }, ['UPSTREAM_API_KEY: …']],
    [{ UPSTREAM_RPM: '5' }, ['UPSTREAM_RPM: set']],
    [
      { SIMULATOR_PORT: 'x', WEIR_PORT: '70000', WEIR_HOST: 'a b' },
      ['SIMULATOR_PORT: "x"', 'WEIR_HOST: "a b"', 'WEIR_PORT: "70000"'],
    ],
  ])('names what is wrong in %j', (env, faults) => {
    expect(faultsOf(() => loadConfig(env, noFile))).toEqual(faults);
  });
});

describe('the environment', () => {
  it('overrides where to listen; empty counts as unset', () => {
    expect(load(MINIMAL, { WEIR_HOST: '0.0.0.0', WEIR_PORT: '0' }).server).toMatchObject({
      host: '0.0.0.0',
      port: 0,
    });
    expect(load(MINIMAL, { WEIR_HOST: '', WEIR_PORT: '' }).server).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
    });
  });

  it('is told when the file passes its provider over', () => {
    const text = MINIMAL.replace('apiKey: k', 'apiKey: ${UPSTREAM_API_KEY}');
    const { notices } = load(text, { UPSTREAM_API_KEY: 'k', UPSTREAM_BASE_URL: 'https://x' });
    expect(notices[0]).toBe('UPSTREAM_BASE_URL is set, but weir.yaml decides and does not refer to it.');
    expect(notices.join()).not.toContain('UPSTREAM_API_KEY is set');
  });

  it('is told of a variable of ours that nobody reads, without its value', () => {
    const { notices } = load(
      MINIMAL.replace('apiKey: k', 'apiKey: ${WEIR_OWN_KEY}, limits: { concurrency: 1 }'),
      {
        ...{ WEIR_CONFG: 'their value', WEIR_ZEBRA: '1', WEIR_EMPTY: '' },
        ...{ WEIR_OWN_KEY: 'k', WEIR_HOST: '::1', WEIR_ALERT_WEBHOOK: 'https://x', PATH: '/bin' },
      },
    );
    expect(notices).toEqual([
      'WEIR_CONFG is set, but nothing reads it; did you mean "WEIR_CONFIG"?',
      'WEIR_ZEBRA is set, but nothing reads it.',
    ]);
    expect(loadConfig({ WEIR_CONFG: 'weir.yaml' }, noFile).notices).toHaveLength(1);
  });

  it('may be wrong in what others read of it, and that is named with the rest', () => {
    const elsewhere = [{ path: 'WEIR_TELEMETRY', value: '"no"', allowed: 'on or off' }];
    const run = () =>
      loadConfig({ WEIR_CONFIG: 'f', WEIR_PORT: 'x' }, () => MINIMAL.replace('id: main', 'id: 7'), {
        environmentFaults: elsewhere,
      });
    expect(faultsOf(run)).toEqual(['accounts[0].id: 7', 'WEIR_PORT: "x"', 'WEIR_TELEMETRY: "no"']);
    const gone = () => loadConfig({ WEIR_CONFIG: 'gone' }, noFile, { environmentFaults: elsewhere });
    expect(faultsOf(gone)).toEqual(['WEIR_CONFIG: "gone"', 'WEIR_TELEMETRY: "no"']);
  });

  it('has the variables that the manual lists, no more and no less', () => {
    const manual = readFileSync(join(__dirname, '../../../docs/configuration.md'), 'utf8');
    const listed = [...manual.matchAll(/^\| `(WEIR_\w+)`/gm)].map(([, name]) => name ?? '');
    expect([...OWN_VARIABLES].sort()).toEqual(listed.sort());
  });

  it('names a file that is not there', () => {
    expect(faultsOf(() => loadConfig({ WEIR_CONFIG: 'gone.yaml' }, noFile))).toEqual([
      'WEIR_CONFIG: "gone.yaml"',
    ]);
  });
});

describe('what is not built yet', () => {
  const text = `
accounts:
  - { id: main, baseUrl: 'https://x', apiKey: k, models: { m: { price: { inputPerMTok: 1, outputPerMTok: 1 } } } }
teams: [{ id: search, keys: ['${KEY}'], budget: { usdPerDay: 1 } }]
store: { kind: redis, url: 'redis://127.0.0.1' }
disconnect: drain
`;

  it('is a fault for a gateway that could not do it', () => {
    const run = () => loadConfig({ WEIR_CONFIG: 'f' }, () => text, { unsupported: NOT_BUILT_YET });
    expect(faultsOf(run)).toEqual(['store.kind: "redis"', 'disconnect: "drain"', 'teams[0].budget: (map)']);
  });

  it('asks for nothing that only it would need', () => {
    const bare = text.replace(/price: \{[^}]*\}/, '').replace(/, url: '[^']*'/, '');
    const run = () => loadConfig({ WEIR_CONFIG: 'f' }, () => bare, { unsupported: NOT_BUILT_YET });
    expect(faultsOf(run)).toEqual(['store.kind: "redis"', 'disconnect: "drain"', 'teams[0].budget: (map)']);
    expect(faultsOf(() => load(bare))).toEqual([
      'accounts[0].models.m.price: (missing)',
      'store.url: (missing)',
    ]);
  });

  it('is read by one that can', () => {
    const config = load(text);
    expect(config.store.kind === 'redis' && config.store.url.reveal()).toBe('redis://127.0.0.1');
    expect(config.teams[0]?.budget).toEqual({ usdPerDay: 1 });
  });

  it('has rows that name fields of the schema', () => {
    // The text above asks for each row once; a row that matched nothing would be one fault less.
    expect(NOT_BUILT_YET).toHaveLength(3);
  });
});
