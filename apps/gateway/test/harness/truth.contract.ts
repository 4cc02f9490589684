import { MODELS, TEMPLATES } from './mixed-callers.js';
import { LEAVE_EARLY, LEAVE_STREAMS, LEFT_TEMPLATE, type MixedRun } from './mixed-run.js';
import { ofModel } from './metrics-reading.js';
import { running, type Tally } from './simulator-control.js';

/** Where the gateway's numbers are read. */
export interface Counters {
  /** The sum of a counter over the series that have all of these labels, each as `name="value"`. */
  sum(name: string, ...labels: readonly string[]): Promise<number>;
  /** Requests by team, template and outcome, where there were any: "search faq ok". */
  outcomes(): Promise<Readonly<Record<string, number>>>;
}

/** What a mixed run has to be true of, once it is over. */
export interface Judged {
  readonly run: MixedRun;
  readonly counters: Counters;
}

/**
 * The numbers of a mixed run, wherever they are read, against those of the two who know better: the provider's own ledger
 * and the callers' own counts. Nothing here is approximate but what is under way when a caller leaves.
 */
export function truthContract(name: string, judged: () => Judged): void {
  const sum: Counters['sum'] = (...of) => judged().counters.sum(...of);
  const ofOutcome = (outcome: string, ...labels: readonly string[]): Promise<number> =>
    sum('weir_upstream_attempts_total', `weir_attempt_outcome="${outcome}"`, ...labels);
  const ofKind = (kind: string): Promise<number> =>
    sum('weir_upstream_throttled_total', `weir_throttle_kind="${kind}"`);
  const ledgerOf = (model: string): Tally => judged().run.ledgers.get(model)!;
  const total = (read: (tally: Tally) => number): number =>
    [...judged().run.ledgers.values()].reduce((all, tally) => all + read(tally), 0);

  describe(`the truth of ${name}`, () => {
    it('is asked of a run with everything in it', () => {
      const { callers, requests } = judged().run;
      expect(callers.total).toBeGreaterThanOrEqual(requests);
      const seen = new Set([...callers.counts.keys()].map((key) => key.split(' ')[2]));
      expect([...seen].sort()).toEqual([
        'cancelled',
        'client_throttled',
        'ok',
        'queue_timeout',
        'rejected',
        'upstream_error',
        'upstream_throttled',
      ]);
      for (const kind of ['requests', 'tokens', 'concurrency', 'daily', 'fault'] as const)
        expect([kind, total(({ rejected }) => rejected[kind]) > 0]).toEqual([kind, true]);
      expect(TEMPLATES).toHaveLength(4);
    });

    it.each(MODELS)('counts attempts at %s as the ledger does', async (model) => {
      const tally = ledgerOf(model);
      expect(running(tally)).toBe(0);
      expect(await sum('weir_upstream_attempts_total', ofModel(model))).toBe(tally.received);
    });

    it.each(MODELS)('counts whole answers of %s and their tokens as the ledger does', async (model) => {
      const { completed, tokens } = ledgerOf(model);
      expect({
        ok: await ofOutcome('ok', ofModel(model)),
        prompt: await sum('gen_ai_client_inference_usage_input_tokens_total', ofModel(model)),
        completion: await sum('gen_ai_client_inference_usage_output_tokens_total', ofModel(model)),
      }).toEqual({ ok: completed, ...tokens });
    });

    it('counts 429s by kind as the ledger does', async () => {
      const { scripted } = judged().run;
      expect({
        requests: await ofKind('requests'),
        tokens: await ofKind('tokens'),
        concurrency: await ofKind('concurrency'),
        daily: await ofKind('daily'),
        billing: await ofKind('billing'),
        others: (await ofKind('overloaded')) + (await ofKind('unknown')),
      }).toEqual({
        requests: total(({ rejected }) => rejected.requests) + scripted.throttles,
        tokens: total(({ rejected }) => rejected.tokens),
        concurrency: total(({ rejected }) => rejected.concurrency),
        daily: total(({ rejected }) => rejected.daily),
        billing: scripted.billing,
        others: 0,
      });
      expect(await ofOutcome('throttled')).toBe(await sum('weir_upstream_throttled_total'));
    });

    it('counts what failed and what was left as the ledger does', async () => {
      const { scripted } = judged().run;
      const cancelled = await ofOutcome('cancelled');
      expect(cancelled).toBe(LEAVE_STREAMS + LEAVE_EARLY);
      expect((await ofOutcome('error')) + (await ofOutcome('timeout')) + cancelled).toBe(
        total(({ aborted, rejected }) => aborted + rejected.fault) - scripted.throttles - scripted.billing,
      );
    });

    it('counts the outcomes of every team and template as its callers do', async () => {
      const { counters, run } = judged();
      expect(await counters.outcomes()).toEqual(Object.fromEntries([...run.callers.counts].sort()));
    });

    it('gives back what was reserved and not settled', async () => {
      const reserved = await sum('weir_tokens_reserved_total');
      const settled = await sum('weir_quota_tokens_total');
      const refunded = await sum('weir_tokens_refunded_total');
      expect(refunded - (await sum('weir_tokens_overdrawn_total'))).toBe(reserved - settled);
      expect(refunded).toBeGreaterThan(0);
    });

    it('charges for streams that were left what the provider made of them, but for what was under way', async () => {
      const { seen, made } = judged().run.cut;
      expect(seen).toBe(made);
      const charged = await sum('weir_quota_tokens_total', `gen_ai_prompt_name="${LEFT_TEMPLATE}"`);
      expect(Math.abs(charged - made)).toBeLessThanOrEqual(2 * LEAVE_STREAMS);
    });
  });
}
