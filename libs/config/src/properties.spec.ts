import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigFaults } from './fault.js';
import { loadConfig } from './load-config.js';

const SEED = 20261129;
const RUNS = { seed: SEED, numRuns: 200 };

function load(text: string, env: Record<string, string> = {}) {
  return loadConfig({ ...env, WEIR_CONFIG: 'f' }, () => text);
}

const BASE = {
  accounts: [
    {
      id: 'main',
      baseUrl: 'https://x',
      apiKey: 'k',
      limits: { requestsPerMinute: 9, shape: 'fixed' },
      models: { m: { price: { inputPerMTok: 1, outputPerMTok: 2 } } },
    },
  ],
  routes: { chat: { targets: ['main/m'] } },
  teams: [
    { id: 't', keys: [`sha256:${'b'.repeat(64)}`], limits: { tokensPerMinute: 5 }, promptTemplates: ['faq'] },
  ],
  queue: { maxDepth: 10 },
  store: { kind: 'memory' },
};

/** Every place in BASE that a value stands at. */
function placesOf(value: unknown): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const below = Object.entries(value).flatMap(([key, entry]) =>
    placesOf(entry).map((path) => [Array.isArray(value) ? Number(key) : key, ...path]),
  );
  return [[], ...below];
}

function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((entry: unknown, at) => (at === key ? replaced(entry, rest, by) : entry));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [name, name === key ? replaced(entry, rest, by) : entry]),
  );
}

it('whatever stands anywhere, the answer is a configuration or named faults', () => {
  fc.assert(
    fc.property(fc.constantFrom(...placesOf(BASE)), fc.jsonValue(), (place, junk) => {
      const text = stringify(replaced(BASE, place, junk));
      try {
        return Object.isFrozen(load(text));
      } catch (thrown) {
        if (!(thrown instanceof ConfigFaults)) throw thrown;
        return (
          thrown.faults.length > 0 &&
          thrown.faults.every(({ path, value, allowed }) => path && value && allowed)
        );
      }
    }),
    RUNS,
  );
});

it('any text at all is read or refused, never a crash', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(() => load(text)).toThrow(ConfigFaults);
    }),
    RUNS,
  );
});

it('what stands in a variable does not become structure', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\x21-\x7e]{1,40}$/), (key) => {
      const text = stringify(BASE).replace('apiKey: k', 'apiKey: ${KEY}');
      expect(load(text, { KEY: key }).accounts[0]?.apiKey.reveal()).toBe(key);
    }),
    RUNS,
  );
});

it('n faults in n places are n lines', () => {
  const wrong = [
    ['accounts[0].baseUrl', ['accounts', 0, 'baseUrl']],
    ['accounts[0].limits.requestsPerMinute', ['accounts', 0, 'limits', 'requestsPerMinute']],
    ['accounts[0].models.m.price.inputPerMTok', ['accounts', 0, 'models', 'm', 'price', 'inputPerMTok']],
    ['routes.chat.targets[0]', ['routes', 'chat', 'targets', 0]],
    ['teams[0].keys[0]', ['teams', 0, 'keys', 0]],
    ['teams[0].promptTemplates[0]', ['teams', 0, 'promptTemplates', 0]],
    ['queue.maxDepth', ['queue', 'maxDepth']],
    ['store.kind', ['store', 'kind']],
  ] as const;
  fc.assert(
    fc.property(fc.subarray([...wrong], { minLength: 1 }), (chosen) => {
      const file = chosen.reduce<unknown>((value, [, place]) => replaced(value, place, -1), BASE);
      try {
        load(stringify(file));
      } catch (thrown) {
        if (!(thrown instanceof ConfigFaults)) throw thrown;
        expect(thrown.faults.map(({ path }) => path).sort()).toEqual(chosen.map(([path]) => path).sort());
        return;
      }
      throw new Error('taken for good');
    }),
    RUNS,
  );
});

it('loading twice gives the same', () => {
  const text = stringify(BASE);
  expect(load(text)).toEqual(load(text));
});
