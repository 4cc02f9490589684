import { setTimeout as sleep } from 'node:timers/promises';
import { COLLECTOR } from '../collector-binary.js';
import { dashboardFiles, panelsOf, resolved } from '../dashboard-files.js';
import { describeWith, PROMETHEUS } from '../needs-program.js';
import { Stack } from './stack.js';

/** Two intervals of export, scrape and evaluation, and some. */
const ARRIVAL_MS = 50_000;
const MINUTE = 60_000;

/** Queries that this traffic gives nothing to, and why. They must be without error all the same. */
const NOTHING_TO_SHOW: readonly (readonly [RegExp, string])[] = [
  [/weir_account_parked/, 'no account is parked'],
  [/weir_upstream_unsent_total\{/, 'a call that never leaves is rare'],
  [/weir_tokens_overdrawn_total/, 'no answer is longer than its max_tokens'],
  [/weir_provider_remaining/, 'the simulator sends no such headers unless it is told to'],
];

interface Ledger {
  readonly keys: Readonly<
    Record<
      string,
      { readonly total: { readonly received: number; readonly rejected: { readonly fault: number } } }
    >
  >;
}

describeWith(PROMETHEUS, COLLECTOR)('the stack without containers', () => {
  jest.setTimeout(14 * MINUTE);
  let stack: Stack;
  let endTraffic: () => Promise<void>;

  beforeAll(async () => {
    stack = await Stack.start();
    endTraffic = stack.traffic(4, 0.12);
  });
  afterAll(async () => {
    await stack.stop();
  });

  const alert = async (name: string): Promise<string | undefined> =>
    (await stack.prometheus.rules()).find((rule) => rule.name === name)?.state;

  /** Waits for a state of the alert; fails where another comes than `meanwhile`. */
  const reaches = async (state: string, meanwhile: readonly string[], limitMs: number): Promise<void> => {
    const until = Date.now() + limitMs;
    for (;;) {
      const now = (await alert('WeirThrottled')) ?? 'missing';
      if (now === state) return;
      expect(meanwhile).toContain(now);
      if (Date.now() > until) throw new Error(`WeirThrottled is still ${now}.`);
      await sleep(1_000);
    }
  };

  it('has the alert pending, then firing, at more than 10 % of 429s', async () => {
    await reaches('pending', ['inactive'], 4 * MINUTE);
    const share = await stack.prometheus.total('weir_upstream_attempts_throttled:ratio_rate5m');
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.25);
    await reaches('firing', ['pending'], 3 * MINUTE);
    // What Prometheus calls firing is a series one evaluation later.
    await sleep(20_000);
  });

  it('evaluates every rule without error', async () => {
    const rules = await stack.prometheus.rules();
    expect(rules.length).toBeGreaterThan(20);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
  });

  const queries = dashboardFiles().flatMap(({ name, json }) =>
    panelsOf(json).flatMap(({ id, title, targets = [] }) =>
      targets.map(({ refId, expr }) => ({ query: `${name} ${id}${refId} ${title}`, expr: resolved(expr) })),
    ),
  );

  it('has data for every query of the dashboards', async () => {
    const wrong: string[] = [];
    for (const { query, expr } of queries) {
      const excused = NOTHING_TO_SHOW.some(([pattern]) => pattern.test(expr));
      try {
        const samples = await stack.prometheus.query(expr);
        const empty = !samples.some(({ value }) => Number.isFinite(value));
        if (empty && !excused) wrong.push(`${query} is empty: ${expr}`);
      } catch (failure) {
        wrong.push(`${query}: ${String(failure)}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('resolves the alert when the 429s are over', async () => {
    await endTraffic();
    endTraffic = stack.traffic(9, 0);
    await reaches('inactive', ['firing'], 8 * MINUTE);
  });

  it('has counted what the simulator counted, on both paths', async () => {
    await endTraffic();
    await sleep(ARRIVAL_MS);
    const ledger = (await (await fetch(`${stack.simulatorUrl}/_sim/ledger`)).json()) as Ledger;
    const totals = Object.values(ledger.keys).map(({ total }) => total);
    const received = totals.reduce((sum, total) => sum + total.received, 0);
    const refused = totals.reduce((sum, { rejected }) => sum + rejected.fault, 0);
    const attempts = await stack.prometheus.total('sum(weir_upstream_attempts_total)');
    const failed = await stack.prometheus.total(
      'sum(weir_upstream_attempts_total{weir_attempt_outcome=~"throttled|error"})',
    );
    const spans = await stack.prometheus.total('sum(traces_span_metrics_calls_total{span_name=~"chat .*"})');
    // Those that never left have a span, too, and the simulator knows nothing of them.
    const unsent = await stack.prometheus.total('sum(weir_upstream_unsent_total)');
    expect(received).toBeGreaterThan(1000);
    expect({ attempts, failed, spans: spans - unsent }).toEqual({
      attempts: received,
      failed: refused,
      spans: received,
    });
  });
});
