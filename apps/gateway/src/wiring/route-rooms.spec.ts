import { loadConfig } from '@weir/config';
import { RouteRooms } from './route-rooms.js';

function configOf(tokens: number) {
  const text = `
accounts:
  - { id: main, baseUrl: https://x, apiKey: k, limits: { tokensPerMinute: ${tokens} }, models: { m: {} } }
  - { id: spare, baseUrl: https://x, apiKey: k, limits: { inputTokensPerMinute: 700 }, models: { m: {}, n: {} } }
routes:
  both: { targets: [main/m], fallback: [spare/n] }
  spare: { targets: [spare/m] }
teams:
  - { id: all, keys: ['sha256:${'1'.repeat(64)}'] }
  - { id: few, keys: ['sha256:${'2'.repeat(64)}'], limits: { tokensPerMinute: 500 } }
`;
  return loadConfig({ WEIR_CONFIG: 'f' }, () => text);
}

const free = Infinity;

describe('RouteRooms', () => {
  it('knows every way of a route, and the least of all', () => {
    const rooms = new RouteRooms({ current: configOf(6_000) });
    const first = { tokens: 6_000, inputTokens: free, outputTokens: free };
    expect(rooms.of('all', 'both')).toEqual({
      first,
      least: { tokens: 6_000, inputTokens: 700, outputTokens: free },
      each: [first, { tokens: free, inputTokens: 700, outputTokens: free }],
    });
    expect(rooms.of('few', 'both').least).toEqual({ tokens: 500, inputTokens: 700, outputTokens: free });
    expect(rooms.of('all', 'spare').least).toEqual({ tokens: free, inputTokens: 700, outputTokens: free });
  });

  it('measures once, and again after a reload', () => {
    const live = { current: configOf(6_000) };
    const rooms = new RouteRooms(live);
    const before = rooms.of('all', 'both');
    expect(rooms.of('all', 'both')).toBe(before);
    live.current = configOf(9_000);
    expect(rooms.of('all', 'both').first.tokens).toBe(9_000);
  });
});
