import { loadConfig } from './load-config.js';

const TEAM = `teams: [{ id: t, keys: ['sha256:${'A'.repeat(64)}'], limits: { requestsPerMinute: 30, concurrency: 2 } }]`;

function load(text: string) {
  return loadConfig({ WEIR_CONFIG: 'f' }, () => `${text}\n${TEAM}`);
}

function account(fields: string, id = 'main'): string {
  return `  - { id: ${id}, baseUrl: https://x, apiKey: k, ${fields} }\n`;
}

describe('limits', () => {
  it('scale minutes by windowSeconds, and nothing else', () => {
    const limits = '{ requestsPerMinute: 60, requestsPerDay: 100, concurrency: 3, shape: { quantum: 0.5 } }';
    const { accounts } = load(
      `accounts:\n${account(`windowSeconds: 6, limits: ${limits}, models: { m: {} }`)}`,
    );
    expect(accounts[0]?.limits).toEqual([
      { unit: 'requests', limit: 60, windowMs: 6000, shape: { kind: 'quantum', quantumMs: 500 } },
      { unit: 'requests_per_day', limit: 100, windowMs: 86_400_000, shape: { kind: 'sliding' } },
      { unit: 'slots', limit: 3, windowMs: 6000, shape: { kind: 'sliding' } },
    ]);
  });

  it('give a burst to requests only', () => {
    const limits = '{ requestsPerMinute: 60, tokensPerMinute: 1000, burst: 8 }';
    const { accounts } = load(`accounts:\n${account(`limits: ${limits}, models: { m: {} }`)}`);
    const shape = { kind: 'unknown' };
    expect(accounts[0]?.limits).toEqual([
      { unit: 'requests', limit: 60, windowMs: 60000, shape, burst: 8 },
      { unit: 'tokens', limit: 1000, windowMs: 60000, shape },
    ]);
  });

  it('give every limit its share of a bucket, inherited by models in proportion', () => {
    const limits = '{ requestsPerMinute: 60, tokensPerMinute: 6000, shape: { bucket: 8 } }';
    const models =
      '{ m: { limits: { requestsPerMinute: 30 } }, n: { limits: { requestsPerMinute: 30, shape: { bucket: 5 } } } }';
    const [main] = load(`accounts:\n${account(`limits: ${limits}, models: ${models}`)}`).accounts;
    const capacities = [main, ...(main?.models ?? [])].map((each) => each?.limits.map(({ shape }) => shape));
    expect(capacities).toEqual([
      [
        { kind: 'bucket', capacity: 8 },
        { kind: 'bucket', capacity: 800 },
      ],
      [{ kind: 'bucket', capacity: 4 }],
      [{ kind: 'bucket', capacity: 5 }],
    ]);
  });

  it('of teams are sliding minutes of 60 s, and digests become lower-case', () => {
    const [team] = load(`accounts:\n${account('windowSeconds: 6, models: { m: {} }')}`).teams;
    expect(team?.limits).toEqual([
      { unit: 'requests', limit: 30, windowMs: 60000, shape: { kind: 'sliding' } },
      { unit: 'slots', limit: 2, windowMs: 60000, shape: { kind: 'sliding' } },
    ]);
    expect(team?.keys).toEqual([`sha256:${'a'.repeat(64)}`]);
  });
});

describe('routes', () => {
  const TWO = `accounts:\n${account('models: { m: {}, vendor/n: {} }')}${account('models: { m: {} }', 'spare')}`;

  it('left out are the models’ own names, over every account that has them', () => {
    expect(Object.values(load(TWO).routes)).toEqual([
      {
        name: 'm',
        targets: [
          { account: 'main', model: 'm' },
          { account: 'spare', model: 'm' },
        ],
        fallback: [],
      },
      { name: 'vendor/n', targets: [{ account: 'main', model: 'vendor/n' }], fallback: [] },
    ]);
  });

  it('split a target at its first slash', () => {
    const { routes } = load(
      `${TWO}routes: { chat: { targets: [spare/m, main/vendor/n], fallback: [main/m] } }`,
    );
    expect(routes['chat']).toEqual({
      name: 'chat',
      targets: [
        { account: 'spare', model: 'm' },
        { account: 'main', model: 'vendor/n' },
      ],
      fallback: [{ account: 'main', model: 'm' }],
    });
    expect(routes['m']).toBeUndefined();
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'have no %s that nobody configured',
    (name) => {
      expect(load(TWO).routes[name]).toBeUndefined();
    },
  );

  it('say so where they take the name of a model that they do not serve', () => {
    const { notices } = load(
      `${TWO}routes: { m: { targets: [main/vendor/n], fallback: [main/m, spare/m] } }`,
    );
    expect(notices).toContain('Route m has the name of a model that it does not serve first.');
  });

  it('warn of streams that are to be continued by a provider that begins anew', () => {
    const account = (profile: string): string =>
      `{ id: main, profile: ${profile}, baseUrl: https://x, apiKey: k, limits: { concurrency: 1 }, models: { m: { midStream: continue } } }`;
    expect(load(`accounts: [${account('openai')}]\n`).notices).toEqual([
      'Model main/m is to continue broken streams, but openai does not go on with an assistant message at the end.',
    ]);
    expect(load(`accounts: [${account('openrouter')}]\n`).notices).toEqual([]);
  });

  it('warn of a model limit above its account, and keep both', () => {
    const account = `{ id: main, baseUrl: https://x, apiKey: k, limits: { requestsPerMinute: 60 },
      models: { m: { limits: { requestsPerMinute: 300, burst: 20 } } } }`;
    const config = load(`accounts: [${account}]\n`);
    expect(config.notices).toEqual([
      "Model main/m: its requestsPerMinute is above the account's, which therefore binds first.",
    ]);
    expect(config.accounts[0]?.models[0]?.limits[0]).toMatchObject({ limit: 300, burst: 20 });
  });
});

describe('defaults that depend on another field', () => {
  const ONE = `accounts:\n${account('models: { m: { price: { inputPerMTok: 2, outputPerMTok: 3 } } }')}`;

  it('maxDepthPerTeam is never above maxDepth', () => {
    expect(load(`${ONE}queue: { maxDepth: 100 }`).queue.maxDepthPerTeam).toBe(100);
    expect(load(ONE).queue.maxDepthPerTeam).toBe(2000);
  });

  it('cached input costs what input costs', () => {
    expect(load(ONE).accounts[0]?.models[0]?.price).toEqual({
      inputPerMTok: 2,
      outputPerMTok: 3,
      cachedInputPerMTok: 2,
    });
  });
});
