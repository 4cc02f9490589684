import { loadConfig } from '@weir/config';
import type { ConfiguredLabels, LogFields, Logger } from '@weir/telemetry';
import { LiveConfig } from './live-config.js';

const FILE = `
accounts:
  - { id: main, baseUrl: https://x, apiKey: hidden-key, limits: { requestsPerMinute: 60 }, models: { m: {} } }
teams: [{ id: t, keys: ['sha256:${'1'.repeat(64)}'] }]
`;

function harness() {
  let text = FILE;
  const limits: [string, number][] = [];
  const lines: [string, LogFields | undefined][] = [];
  const log = (event: string, fields?: LogFields) => lines.push([event, fields]);
  const logger: Logger = { info: log, warn: log, error: log };
  const limiter = { setLimit: (id: string, limit: number) => limits.push([id, limit]) > 0 };
  const routes: (readonly string[])[] = [];
  const telemetry = { relabel: (labels: ConfiguredLabels) => void routes.push(labels.routes) };
  const live = new LiveConfig(() => loadConfig({ WEIR_CONFIG: 'f' }, () => text));
  const write = (next: string) => {
    text = next;
    live.reload({ limiter, telemetry, logger });
  };
  return { live, limits, lines, routes, write };
}

describe('LiveConfig', () => {
  it('puts a good file in force, and its limits into the limiter', () => {
    const { live, limits, lines, routes, write } = harness();
    write(FILE.replace('60', '90').replace('teams:', 'queue: { maxWaitMs: 7 }\nteams:'));
    expect(live.current.queue.maxWaitMs).toBe(7);
    expect(limits).toEqual([['account:main:requests', 90]]);
    expect(routes).toEqual([['m']]);
    expect(lines[0]?.[0]).toBe('reloaded');
  });

  it.each([
    ['a fault', FILE.replace('60', '-1')],
    ['a change that needs a restart', FILE.replace('https://x', 'https://y').replace('60', '90')],
    ['no YAML at all', '{'],
  ])('keeps everything as it is for a file with %s, and names it without secrets', (_, text) => {
    const { live, limits, lines, write } = harness();
    const before = live.current;
    write(text);
    expect(live.current).toBe(before);
    expect(limits).toEqual([]);
    expect(lines[0]?.[0]).toBe('reload refused');
    expect(JSON.stringify(lines)).not.toContain('hidden-key');
    write(FILE.replace('60', '61'));
    expect(limits).toEqual([['account:main:requests', 61]]);
  });
});
