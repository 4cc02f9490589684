import { loadConfig } from './load-config.js';
import { interpolate, shieldReferences } from './interpolate.js';
import { parseYaml } from './parse-yaml.js';

function filled(text: string, env: Record<string, string>) {
  const parsed = parseYaml(shieldReferences(text));
  if (parsed.kind === 'broken') throw new Error(JSON.stringify(parsed.faults));
  return interpolate(parsed.value, env);
}

it.each([
  ['a: ${X}', { a: '1' }],
  ['a: "before ${X} after ${Y}"', { a: 'before 1 after two words' }],
  // Inside braces and brackets YAML would take the reference's own braces for its own.
  ['{ a: ${X}, b: [${Y}, z] }', { a: '1', b: ['two words', 'z'] }],
  ['a: $${X}', { a: '${X}' }],
  ['a: "$${X} ${X}"', { a: '${X} 1' }],
  ['a: $X', { a: '$X' }],
  ['a: 5', { a: 5 }],
  ['${X}: 1', { '${X}': 1 }],
  // What a variable holds is never read as YAML, nor for further references.
  ['a: ${TRICKY}', { a: '{ b: 1 } # ${X} $${X}' }],
])('%s', (text, value) => {
  const env = { X: '1', Y: 'two words', TRICKY: '{ b: 1 } # ${X} $${X}' };
  expect(filled(text, env)).toMatchObject({ value, faults: [] });
});

it('names the place and the variable where none is set', () => {
  const { faults, value } = filled('a: { b: [x, "${ONE}-${TWO}"] }', { TWO: '2' });
  expect(faults).toEqual([
    { path: 'a.b[1]', value: '${ONE} is not set', allowed: 'the environment variable ONE to be set' },
  ]);
  expect(value).toEqual({ a: { b: ['x', '${ONE}-2'] } });
});

it.each(['"${}"', '"${1A}"', '"${A-B}"', '"${open"'])('finds a broken reference in %s', (text) => {
  expect(filled(`a: ${text}`, { A: '1' }).faults).toEqual([
    expect.objectContaining({ path: 'a', value: '${…}' }),
  ]);
});

it('keeps lines and columns', () => {
  const parsed = parseYaml(shieldReferences('a: ${X}\nb: ${Y} ]\nc: {d: ${Z}, ]'));
  expect(parsed.faults[0]?.path).toBe('3:14');
});

it('works where people write it', () => {
  const text = `
accounts: [{ id: main, baseUrl: https://x, apiKey: k, models: { m: {} } }]
teams: [{ id: t, keys: ['sha256:${'a'.repeat(64)}'] }]
store: { kind: redis, url: \${REDIS_URL} }`;
  const { store } = loadConfig({ WEIR_CONFIG: 'f', REDIS_URL: 'redis://:p@h:6379/0' }, () => text);
  expect(store.kind === 'redis' && store.url.reveal()).toBe('redis://:p@h:6379/0');
});
