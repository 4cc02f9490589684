import { restartsNeeded } from './live-changes.js';
import { loadConfig } from './load-config.js';

const KEY = `sha256:${'1'.repeat(64)}`;
const OTHER_KEY = `sha256:${'2'.repeat(64)}`;

const BASE = `
accounts:
  - id: main
    baseUrl: https://x
    apiKey: secret-one
    limits: { requestsPerMinute: 60 }
    models: { m: { limits: { requestsPerMinute: 30 } }, n: {} }
routes: { chat: { targets: [main/m, main/n] } }
teams: [{ id: t, keys: ['${KEY}'], limits: { requestsPerMinute: 5 } }]
`;

function changed(from: string, to: string): readonly string[] {
  const text = BASE.replace(from, to);
  if (text === BASE) throw new Error(`nothing to replace: ${from}`);
  const load = (yaml: string) => loadConfig({ WEIR_CONFIG: 'f' }, () => yaml);
  return restartsNeeded(load(BASE), load(text)).map(({ path }) => path);
}

describe('restartsNeeded', () => {
  it.each([
    ['numbers of an account limit', 'requestsPerMinute: 60', 'requestsPerMinute: 90'],
    ['numbers of a model limit', 'requestsPerMinute: 30', 'requestsPerMinute: 3'],
    ['numbers of a team limit', 'requestsPerMinute: 5', 'requestsPerMinute: 6'],
    ['routes', 'targets: [main/m, main/n]', 'targets: [main/n, main/m]'],
    ['keys', KEY, OTHER_KEY],
    ['the longest wait', 'routes:', 'queue: { maxWaitMs: 1000 }\nroutes:'],
    ['admin keys', 'routes:', `server: { adminKeys: ['${OTHER_KEY}'] }\nroutes:`],
  ])('lets %s change while the gateway runs', (_, from, to) => {
    expect(changed(from, to)).toEqual([]);
  });

  it.each([
    ['secret-one', 'secret-two', 'accounts.main.apiKey'],
    ['https://x', 'https://y', 'accounts.main.baseUrl'],
    ['apiKey:', 'windowSeconds: 6\n    apiKey:', 'accounts.main.windowMs'],
    ['n: {} }', 'n: { limits: { requestsPerMinute: 1 } } }', 'accounts.main.models.n.limits.requests'],
    [
      'requestsPerMinute: 30',
      'requestsPerMinute: 30, burst: 2',
      'accounts.main.models.m.limits.requests.burst',
    ],
    ['requestsPerMinute: 60', 'requestsPerMinute: 60, concurrency: 3', 'accounts.main.limits.slots'],
    ['id: t', 'id: u', 'teams.t'],
    ['routes:', 'retry: { maxAttempts: 2 }\nroutes:', 'retry.maxAttempts'],
    ['routes:', 'server: { bodyLimitBytes: 1024 }\nroutes:', 'server.bodyLimitBytes'],
  ])('names what cannot: %s', (from, to, path) => {
    expect(changed(from, to)).toContain(path);
  });

  it('never shows a secret', () => {
    const load = (key: string) => loadConfig({ WEIR_CONFIG: 'f' }, () => BASE.replace('secret-one', key));
    expect(JSON.stringify(restartsNeeded(load('secret-one'), load('secret-two')))).not.toContain('secret-');
  });
});
