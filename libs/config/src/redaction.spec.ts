import { inspect } from 'node:util';
import { ConfigFaults } from './fault.js';
import { loadConfig } from './load-config.js';

const MARK = 'MARKED-SECRET';
const DIGEST = `sha256:${'a'.repeat(64)}`;

function messageOf(text: string, env: Record<string, string> = {}): string {
  try {
    loadConfig({ WEIR_CONFIG: 'weir.yaml', ...env }, () => text);
  } catch (thrown) {
    if (thrown instanceof ConfigFaults) return `${thrown.message}\n${inspect(thrown, { depth: 9 })}`;
    throw thrown;
  }
  throw new Error('the file was taken for good');
}

function file(account: string, rest = ''): string {
  return `accounts: [{ id: main, models: { m: {} }, ${account} }]\nteams: [{ id: t, keys: ['${DIGEST}'] }]\n${rest}`;
}

describe('no fault shows a secret', () => {
  it.each([
    ['an unusable key', file(`baseUrl: https://x, apiKey: "${MARK} with a blank"`)],
    ['a misspelt field', file(`baseUrl: https://x, apikey: ${MARK}`)],
    ['a key without the blank before it', file(`baseUrl: https://x, apiKey:${MARK}`)],
    ['credentials without a scheme', file(`baseUrl: "u:${MARK}@x", apiKey: k`)],
    ['a nested key', file(`baseUrl: https://x, apiKey: { value: ${MARK} }`)],
    ['a list of keys', file(`baseUrl: https://x, apiKey: [${MARK}]`)],
    ['credentials in an address', file(`baseUrl: "https://u:${MARK}@x/v1", apiKey: k`)],
    ['a password with a slash', file(`baseUrl: "https://u:a/${MARK}@x/v1", apiKey: k`)],
    ['a key in a query', file(`baseUrl: "https://x/v1?key=${MARK}", apiKey: k`)],
    [
      'a store address',
      file('baseUrl: https://x, apiKey: k', `store: { kind: redis, url: "http://:${MARK}@h" }`),
    ],
    [
      'a store address that means nothing',
      file('baseUrl: https://x, apiKey: k', `store: { url: "redis://:${MARK}@h" }`),
    ],
    ['a plain admin key', file('baseUrl: https://x, apiKey: k', `server: { adminKeys: [${MARK}] }`)],
    [
      'a plain admin key without a list',
      file('baseUrl: https://x, apiKey: k', `server: { adminKeys: ${MARK} }`),
    ],
    ['a key twice', file('baseUrl: https://x, apiKey: k', `server: { adminKeys: ['${DIGEST}'] }`)],
    ['broken YAML', `apiKey: "${MARK}" "${MARK}\n`],
    ['an unknown alias', `accounts: [{ apiKey: *${MARK} }]`],
    ['an unknown tag', `accounts: [{ apiKey: !${MARK} x }]`],
    ['a stray line', `accounts: []\n${MARK}\nteams: []`],
  ])('%s', (_, text) => {
    const message = messageOf(text);
    expect(message).not.toContain(MARK);
    expect(message).not.toContain('aaaa');
  });

  it('that a variable brought to the wrong place', () => {
    const text = file('baseUrl: "${SECRET}", apiKey: k').replace('id: main', 'id: "${SECRET}"');
    const message = messageOf(text, { SECRET: `${MARK} x` });
    expect(message).not.toContain(MARK);
    expect(message).toContain('accounts[0].id: "${SECRET}"');
  });

  it('that came in a variable of its own', () => {
    const env = { UPSTREAM_BASE_URL: `https://u:${MARK}@x`, UPSTREAM_API_KEY: `${MARK} x` };
    expect(messageOf('', { ...env, WEIR_CONFIG: '' })).not.toContain(MARK);
  });
});

it('a loaded configuration prints without its secrets', () => {
  const text = file(
    `baseUrl: https://x, apiKey: ${MARK}`,
    `store: { kind: redis, url: "redis://:${MARK}@h" }`,
  );
  const config = loadConfig({ WEIR_CONFIG: 'f' }, () => text);
  expect(inspect(config, { depth: 9, showHidden: true })).not.toContain(MARK);
  expect(JSON.stringify(config)).not.toContain(MARK);
  expect(String(config.accounts[0]?.apiKey)).toBe('…');
  expect(config.accounts[0]?.apiKey.reveal()).toBe(MARK);
});
