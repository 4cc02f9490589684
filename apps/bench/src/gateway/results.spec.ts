import { judgeGateway } from './judge.js';
import { lostShare } from './lost-spans.js';
import { Results } from './results.js';
import type { LoadName } from './loads.js';
import type { TargetName } from './targets.js';

const LOADS: readonly LoadName[] = ['plain', 'burst', 'paced'];

/** CPU of an answer in microseconds, by round. */
function results(costs: Partial<Record<TargetName, readonly number[]>>): Results {
  const all = new Results();
  for (const load of LOADS)
    for (const [target, rounds] of Object.entries(costs))
      for (const cpuUs of rounds) all.add(load, target as TargetName, { cpuUs, answersPerSecond: 1 });
  return all;
}

describe('gateway bench', () => {
  it('compares within rounds, because a busy round is busy for everybody', () => {
    const measured = results({
      'Weir, telemetry off': [100, 400, 100],
      'Weir, all exported': [200, 800, 150],
    });
    expect(measured.ratio('plain', 'Weir, all exported', 'Weir, telemetry off')).toBe(0.5);
    expect(measured.of('plain', 'Weir, telemetry off', 'cpuUs')).toBe(100);
  });

  it('fails a verdict below its bar, and passes it at the bar', () => {
    const at = (tenth: number, all: number, portkey: number) =>
      judgeGateway(
        results({
          'Weir, telemetry off': [99],
          'Weir, 10 % exported': [tenth],
          'Weir, all exported': [all],
          Portkey: [portkey],
        }),
      ).map(({ holds }) => holds);
    expect(at(100, 100, 250)).toEqual([true, true, true, true, true, true, true, true]);
    expect(at(120, 190, 250)).toEqual([true, true, false, false, false, false, false, false]);
  });

  it('reads dropped spans off the metrics', () => {
    const line = (labels: string, count: number) =>
      `otel_sdk_processor_span_processed_total{otel_component_name="x"${labels}} ${count}\n`;
    expect(lostShare(line('', 75) + line(',error_type="queue_full"', 25))).toBe(0.25);
    expect(lostShare('')).toBe(0);
  });
});
