import { ConfigSource } from './config-source.js';
import { ConfigFaults } from './fault.js';
import { loadConfig } from './load-config.js';

const good = (weight: number): string => `
accounts: [{ id: main, baseUrl: https://x, apiKey: k, models: { m: {} } }]
teams: [{ id: t, keys: ['sha256:${'a'.repeat(64)}'], weight: ${weight} }]`;

function sourceOf(first: string) {
  let text = first;
  const source = new ConfigSource(() => loadConfig({ WEIR_CONFIG: 'f' }, () => text));
  return { source, write: (next: string) => (text = next) };
}

it('takes a new file whole', () => {
  const { source, write } = sourceOf(good(1));
  write(good(5));
  expect(source.current.teams[0]?.weight).toBe(1);
  const reload = source.reload();
  expect(reload).toEqual({ kind: 'applied', config: source.current });
  expect(source.current.teams[0]?.weight).toBe(5);
});

it('keeps the old one whole where the new one has faults, and names them all', () => {
  const { source, write } = sourceOf(good(1));
  const before = source.current;
  write(good(0).replace('id: main', 'id: ""'));
  expect(source.reload()).toMatchObject({
    kind: 'rejected',
    faults: [{ path: 'accounts[0].id' }, { path: 'teams[0].weight' }],
  });
  expect(source.current).toBe(before);
  write(good(3));
  expect(source.reload().kind).toBe('applied');
});

it('does not start with a broken file', () => {
  expect(() => sourceOf('nonsense')).toThrow(ConfigFaults);
});
