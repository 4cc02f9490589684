import { ConfigFaults } from './fault.js';
import { loadConfig } from './load-config.js';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const ACCOUNT = 'accounts: [{ id: main, baseUrl: https://x, apiKey: k, models: { m: {}, n/o: {} } }]';
const TEAM = `teams: [{ id: search, keys: ['${DIGEST}'] }]`;

function faultsOf(text: string): readonly string[] {
  try {
    loadConfig({ WEIR_CONFIG: 'weir.yaml' }, () => text);
  } catch (thrown) {
    if (thrown instanceof ConfigFaults)
      return thrown.message
        .split('\n')
        .slice(1)
        .map((line) => line.trim());
    throw thrown;
  }
  return [];
}

/** One account with these fields in place of the good ones. */
function withAccount(fields: string): string {
  return `accounts: [{ id: main, baseUrl: https://x, apiKey: k, ${fields} }]\n${TEAM}`;
}

function withLimits(limits: string, rest = 'models: { m: {} }'): string {
  return withAccount(`limits: ${limits}, ${rest}`);
}

const SHAPES = 'unknown | sliding | fixed | { bucket: requests } | { quantum: seconds }';
const REQUESTS = 'a whole number from 1 to 1000000000 (requests)';
const ID = '1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit';
const MODEL_NAMES = 'a name of 1 to 256 printable ASCII characters without blanks, not __proto__';
const BASE_URL =
  'an http:// or https:// address without user, password, query or fragment, and without /chat/completions at its end';

describe('faults of form', () => {
  it.each<[string, readonly string[]]>([
    [
      '',
      [
        '(file): (empty); allowed: a map with accounts, routes, teams, server, timeouts, breaker, queue, retry, store, disconnect',
      ],
    ],
    [
      withAccount('profile: opnai, models: { m: {} }'),
      [
        'accounts[0].profile: "opnai"; did you mean "openai"?; allowed: openai | azure | anthropic | gemini | groq | mistral | deepseek | openrouter | together | fireworks | xai | vllm | ollama | litellm | one-api | generic',
      ],
    ],
    [ACCOUNT, ['teams: (missing); allowed: a list of teams with at least one entry']],
    [TEAM, ['accounts: (missing); allowed: a list of accounts with at least one entry']],
    [
      `accounts: []\n${TEAM}`,
      ['accounts: (empty list); allowed: a list of accounts with at least one entry'],
    ],
    [
      withLimits('{ requestsPerMinute: 0 }'),
      [`accounts[0].limits.requestsPerMinute: 0; allowed: ${REQUESTS}`],
    ],
    [
      withLimits('{ requestsPerMinute: -5 }'),
      [`accounts[0].limits.requestsPerMinute: -5; allowed: ${REQUESTS}`],
    ],
    [
      withLimits('{ requestsPerMinute: .nan }'),
      [`accounts[0].limits.requestsPerMinute: NaN; allowed: ${REQUESTS}`],
    ],
    [
      withLimits('{ requestsPerMinute: .inf }'),
      [`accounts[0].limits.requestsPerMinute: Infinity; allowed: ${REQUESTS}`],
    ],
    [
      withLimits('{ requestsPerMinute: 1.5 }'),
      [`accounts[0].limits.requestsPerMinute: 1.5; allowed: ${REQUESTS}`],
    ],
    [
      withLimits('{ requestsPerMinute: "60" }'),
      [`accounts[0].limits.requestsPerMinute: "60"; allowed: ${REQUESTS}`],
    ],
    [
      withLimits('{ shape: leaky, requestsPerMinute: 1 }'),
      [`accounts[0].limits.shape: "leaky"; allowed: ${SHAPES}`],
    ],
    [
      withLimits('{ shape: { bucket: 1, quantum: 1 }, requestsPerMinute: 1 }'),
      [`accounts[0].limits.shape: {"bucket":1,"quantum":1}; allowed: ${SHAPES}`],
    ],
    [
      withAccount('models: {}'),
      ['accounts[0].models: (map); allowed: a map of model names with at least one entry'],
    ],
    [
      withAccount('models: { m: null }'),
      ['accounts[0].models.m: (empty); allowed: a map with limits, price, midStream'],
    ],
    [withAccount('models: { "a b": {} }'), [`accounts[0].models["a b"]: "a b"; allowed: ${MODEL_NAMES}`]],
    [
      withAccount('models: { m: {}, __proto__: {} }'),
      [`accounts[0].models.__proto__: "__proto__"; allowed: ${MODEL_NAMES}`],
    ],
    [
      withAccount('models: { m: { price: { inputPerMTok: -1 } } }'),
      [
        'accounts[0].models.m.price.inputPerMTok: -1; allowed: a number from 0 to 1000000 (US dollars for 1,000,000 tokens)',
        'accounts[0].models.m.price.outputPerMTok: (missing); allowed: a number from 0 to 1000000 (US dollars for 1,000,000 tokens)',
      ],
    ],
    [
      withAccount('models: { m: {} }').replace('id: main', 'id: a/b'),
      [`accounts[0].id: "a/b"; allowed: ${ID}`],
    ],
    [
      withAccount('models: { m: {} }').replace('https://x', 'https://x/v1?a=b'),
      [`accounts[0].baseUrl: "https://x/v1?…"; allowed: ${BASE_URL}`],
    ],
    [
      withAccount('models: { m: {} }').replace('https://x', 'ftp://x'),
      [`accounts[0].baseUrl: "ftp://x"; allowed: ${BASE_URL}`],
    ],
    [
      withAccount('models: { m: {} }').replace('https://x', 'https://x/v1/chat/completions/'),
      [`accounts[0].baseUrl: "https://x/v1/chat/completions/"; allowed: ${BASE_URL}`],
    ],
    [
      withAccount('models: { m: {} }').replace('baseUrl', 'base_url'),
      [
        `accounts[0].baseUrl: (missing); allowed: ${BASE_URL}`,
        'accounts[0].base_url: unknown field; did you mean "baseUrl"?; allowed: id, profile, baseUrl, apiKey, limits, windowSeconds, refundRequestsOn429, models',
      ],
    ],
    [
      `${ACCOUNT}\n${TEAM}\nqueue: { zzz: 1 }`,
      ['queue.zzz: unknown field; allowed: maxWaitMs, maxDepth, maxDepthPerTeam, delaySpreadMs'],
    ],
    [
      `${ACCOUNT}\nteams: [{ id: unknown, keys: [], weight: 0, promptTemplates: [none, FAQ] }]`,
      [
        `teams[0].id: "unknown"; allowed: ${ID} (unknown is taken)`,
        'teams[0].keys: …; allowed: a list of "sha256:" digests',
        'teams[0].weight: 0; allowed: a number above 0, at most 1000 (shares)',
        'teams[0].promptTemplates[0]: "none"; allowed: 1 to 64 of a-z 0-9 . _ - (none and other are taken)',
        'teams[0].promptTemplates[1]: "FAQ"; allowed: 1 to 64 of a-z 0-9 . _ - (none and other are taken)',
      ],
    ],
    [
      `${ACCOUNT}\n${TEAM}\nbreaker: { failureShare: 0 }\nserver: { port: 65536 }\ndisconnect: leave`,
      [
        'server.port: 65536; allowed: a whole number from 0 to 65535 (port)',
        'breaker.failureShare: 0; allowed: a number above 0, at most 1 (share)',
        'disconnect: "leave"; allowed: abort | drain | journal',
      ],
    ],
  ])('%#: %s', (text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });
});

describe('limits that contradict each other', () => {
  it.each<[string, readonly string[]]>([
    [
      withLimits('{ requestsPerMinute: 5, burst: 6 }'),
      ['accounts[0].limits.burst: 6; allowed: at most requestsPerMinute, 5'],
    ],
    [
      withLimits('{ concurrency: 5, burst: 6 }'),
      ['accounts[0].limits.burst: 6; allowed: only beside requestsPerMinute, whose burst it is'],
    ],
    // A limit that is itself wrong is named once, not again by what depends on it.
    [
      withLimits('{ requestsPerMinute: 0, burst: 6 }'),
      [`accounts[0].limits.requestsPerMinute: 0; allowed: ${REQUESTS}`],
    ],
    [
      withLimits('{ concurrency: 5, shape: fixed }'),
      ['accounts[0].limits.shape: "fixed"; allowed: only beside a limit per minute, whose shape it is'],
    ],
    [
      withLimits('{ tokensPerMinute: 5, shape: { bucket: 1 } }'),
      [
        'accounts[0].limits.shape: {"bucket":1}; allowed: a bucket only beside requestsPerMinute, because it counts requests',
      ],
    ],
    [
      withLimits('{ requestsPerMinute: 5, shape: { bucket: 6 } }'),
      ['accounts[0].limits.shape: {"bucket":6}; allowed: a bucket of at most requestsPerMinute, 5'],
    ],
    [
      withLimits('{ requestsPerMinute: 5, burst: 4, shape: { bucket: 3 } }'),
      ['accounts[0].limits.burst: 4; allowed: at most the bucket of the shape, 3'],
    ],
    [
      withLimits('{ requestsPerMinute: 60, shape: { quantum: 61 } }'),
      ['accounts[0].limits.shape: {"quantum":61}; allowed: a quantum of at most windowSeconds, 60'],
    ],
    [
      withLimits('{ requestsPerMinute: 30, shape: { quantum: 1 } }'),
      [
        'accounts[0].limits.shape: {"quantum":1}; allowed: a quantum of at least 2 s, the time of one request at 30 in 60 s',
      ],
    ],
    [withLimits('{ requestsPerMinute: 60, shape: { quantum: 1 } }'), []],
    [withLimits('{ shape: sliding }', 'models: { m: { limits: { requestsPerMinute: 1 } } }'), []],
    [
      `${ACCOUNT}\nteams: [{ id: t, keys: ['${DIGEST}'], limits: { requestsPerMinute: 1, burst: 2 } }]`,
      ['teams[0].limits.burst: 2; allowed: at most requestsPerMinute, 1'],
    ],
  ])('%#: %s', (text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });
});

describe('names and settings that do not fit together', () => {
  const routes = (text: string): string => `${ACCOUNT}\n${TEAM}\nroutes: ${text}`;
  const BOTH = 'all: { targets: [main/m, main/n/o] }';

  it.each<[string, readonly string[]]>([
    [routes(`{ ${BOTH} }`), []],
    [routes('{}'), ['routes: (map); allowed: a map of model names with at least one entry']],
    [
      routes('{ chat: { targets: [] } }'),
      ['routes.chat.targets: (empty list); allowed: a list of account/model with at least one entry'],
    ],
    [routes('{ chat: { targets: [main] } }'), ['routes.chat.targets[0]: "main"; allowed: account/model']],
    [
      routes(`{ ${BOTH}, chat: { targets: [mian/m] } }`),
      ['routes.chat.targets[0]: mian/m; allowed: one of the accounts: main; did you mean "main"?'],
    ],
    [
      routes(`{ ${BOTH}, chat: { targets: [main/n/0] } }`),
      ['routes.chat.targets[0]: main/n/0; allowed: a model of main: m, n/o; did you mean "n/o"?'],
    ],
    [
      routes(`{ ${BOTH}, chat: { targets: [main/m], fallback: [main/m] } }`),
      ['routes.chat.fallback[0]: main/m; allowed: a target other than routes.chat.targets[0]'],
    ],
    [
      routes('{ chat: { targets: [main/m] } }'),
      ['accounts[0].models["n/o"]: no route leads here; allowed: a model that a route names'],
    ],
    // A model that a target meant, but did not hit, is not called unreached beside it.
    [
      routes('{ chat: { targets: [main/m, main/n/0] } }'),
      ['routes.chat.targets[1]: main/n/0; allowed: a model of main: m, n/o; did you mean "n/o"?'],
    ],
    [
      routes('{ chat: { targets: [main/m], fallback: [mian/n/o] } }'),
      ['routes.chat.fallback[0]: mian/n/o; allowed: one of the accounts: main; did you mean "main"?'],
    ],
    [
      routes('{ chat: { targets: [main/m, spare/far] } }'),
      [
        'routes.chat.targets[1]: spare/far; allowed: one of the accounts: main',
        'accounts[0].models["n/o"]: no route leads here; allowed: a model that a route names',
      ],
    ],
    [
      `accounts:\n${'  - { id: main, baseUrl: https://x, apiKey: k, models: { m: {} } }\n'.repeat(2)}${TEAM}`,
      ['accounts[1].id: main; allowed: an id other than that of accounts[0]'],
    ],
    [
      `${ACCOUNT}\nteams:\n  - { id: a, keys: ['${DIGEST}'] }\n  - { id: a, keys: ['${DIGEST.replaceAll('a'.repeat(64), 'A'.repeat(64))}'], promptTemplates: [x, x] }`,
      [
        'teams[1].id: a; allowed: an id other than that of teams[0]',
        'teams[1].keys[0]: …; allowed: a key other than teams[0].keys[0]',
        'teams[1].promptTemplates[1]: x; allowed: a name other than teams[1].promptTemplates[0]',
      ],
    ],
    [
      `${ACCOUNT}\n${TEAM}\nserver: { adminKeys: ['${DIGEST}'] }`,
      ['server.adminKeys[0]: …; allowed: a key other than teams[0].keys[0]'],
    ],
    [
      `${ACCOUNT}\nteams: [{ id: t, keys: ['${DIGEST}'], budget: { usdPerDay: 5 } }]`,
      [
        'accounts[0].models.m.price: (missing); allowed: a price, because of teams[0].budget',
        'accounts[0].models["n/o"].price: (missing); allowed: a price, because of teams[0].budget',
      ],
    ],
    [
      `${ACCOUNT}\n${TEAM}\nstore: { kind: redis }`,
      ['store.url: (missing); allowed: a redis:// or rediss:// address, because of kind redis'],
    ],
    [`${ACCOUNT}\n${TEAM}\nstore: { url: redis://x }`, ['store.url: …; allowed: only with kind redis']],
    [
      `${ACCOUNT}\n${TEAM}\nbreaker: { openMs: 60001 }`,
      ['breaker.openMs: 60001; allowed: at most breaker.maxOpenMs, 60000'],
    ],
    [
      `${ACCOUNT}\n${TEAM}\nqueue: { maxDepth: 5, maxDepthPerTeam: 6 }`,
      ['queue.maxDepthPerTeam: 6; allowed: at most queue.maxDepth, 5'],
    ],
    // A broken account is named itself; targets behind it are not guessed at.
    [
      routes(`{ chat: { targets: [main/m, main/n/o] } }`).replace('id: main', 'id: 7'),
      [`accounts[0].id: 7; allowed: ${ID}`],
    ],
  ])('%#: %s', (text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });
});

describe('YAML itself', () => {
  it('is named by line and column', () => {
    const faults = faultsOf('accounts:\n  - id: [1, 2\nteams: {}\n');
    expect(faults[0]).toMatch(/^3:1: .*; allowed: YAML 1.2$/);
  });

  it('may not say a thing twice, and the rest is checked all the same', () => {
    expect(faultsOf(`${ACCOUNT}\n${TEAM}\nqueue: { maxDepth: 0 }\nqueue: { maxDepth: 0 }`)).toEqual([
      '4:1: a field that stands twice; allowed: each field once in its map',
      'queue.maxDepth: 0; allowed: a whole number from 1 to 10000000 (requests)',
    ]);
  });

  it('is one document without tags', () => {
    expect(faultsOf(`${ACCOUNT}\n---\n${TEAM}`)).toHaveLength(1);
    expect(faultsOf(`${ACCOUNT}\nteams: !secret x`)).toHaveLength(1);
  });

  it('cannot be blown up by aliases', () => {
    const levels = Array.from(
      { length: 12 },
      (_, at) => `x${at + 1}: &x${at + 1} [${`*x${at},`.repeat(12)}]`,
    );
    expect(faultsOf(['x0: &x0 [lol]', ...levels].join('\n'))).toEqual([
      '(file): too many YAML aliases; allowed: fewer *aliases',
    ]);
  });
});

it('names every fault at once, of form and of sense', () => {
  const faults = faultsOf(`
accounts:
  - { id: main, baseUrl: https://x, apiKey: \${NOT_SET}, limits: { requestsPerMinute: 0, concurency: 3 }, models: { m: {} } }
  - { id: main, baseUrl: https://y, apiKey: k, limits: { requestsPerMinute: 5, burst: 9 }, models: { m: {} } }
routes: { chat: { targets: [main/m, spare/m] } }
teams: [{ id: t, keys: ['plain text'] }]
`);
  expect(faults.map((fault) => fault.split(': ')[0])).toEqual([
    'accounts[0].apiKey',
    'accounts[0].limits.requestsPerMinute',
    'accounts[0].limits.concurency',
    'teams[0].keys[0]',
    'accounts[1].id',
    'routes.chat.targets[1]',
    'accounts[1].limits.burst',
  ]);
});
