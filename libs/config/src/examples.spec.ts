import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROFILE_NAMES } from './gateway-config.js';
import { loadConfig } from './load-config.js';
import { NOT_BUILT_YET } from './unsupported.js';

const FOLDER = join(__dirname, '../../../apps/gateway/config');
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));

function load(name: string) {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, variable]) => variable ?? '');
  const set = names.map(
    (variable) => [variable, variable.endsWith('_URL') ? 'https://example.com/v1' : 'word'] as const,
  );
  return loadConfig({ ...Object.fromEntries(set), WEIR_CONFIG: name }, () => text, {
    unsupported: NOT_BUILT_YET,
  });
}

it('there is one for each profile, and one with everything', () => {
  expect(EXAMPLES).toEqual([...PROFILE_NAMES.map((name) => `${name}.yaml`), 'weir.example.yaml'].sort());
});

describe.each(EXAMPLES)('%s', (name) => {
  it('loads, with nothing to warn of', () => {
    expect(load(name).notices).toEqual([]);
  });

  it('is about the provider that it is named for', () => {
    const profiles = load(name).accounts.map(({ profile }) => profile);
    if (name !== 'weir.example.yaml') expect(profiles).toEqual([name.replace('.yaml', '')]);
  });

  it('tells editors its schema, and holds neither keys nor digests that anybody could use', () => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./weir.schema.json');
    for (const { keys } of load(name).teams) for (const key of keys) expect(key).toMatch(/^sha256:0{63}\d$/);
    const literal = [...text.matchAll(/apiKey: (\S+)/g)]
      .map(([, key]) => key)
      .filter((key) => !key?.startsWith('${'));
    expect(literal).toEqual(name === 'ollama.yaml' ? ['ollama'] : []);
  });
});

it('weir.example.yaml names every field but those of what is not built', () => {
  const schema = JSON.parse(readFileSync(join(FOLDER, 'weir.schema.json'), 'utf8')) as unknown;
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties } = value as { properties?: object };
    for (const name of Object.keys(properties ?? {})) names.add(name);
    Object.values(value).forEach(visit);
  };
  visit(schema);
  const text = readFileSync(join(FOLDER, 'weir.example.yaml'), 'utf8');
  expect(names.size).toBeGreaterThan(50);
  expect([...names].filter((name) => !new RegExp(`\\b${name}:`).test(text))).toEqual([]);
});
