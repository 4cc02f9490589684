import type { Milliseconds, Priority } from '@weir/kernel';
import * as fc from 'fast-check';
import { amountOf, blockOf } from '../ledger/ledger.js';
import { MemoryLedger } from '../ledger/memory-ledger.js';
import type { Cost } from '../limiter.js';
import { createDimension } from '../quota/create-dimension.js';
import type { DimensionSpec } from '../quota/dimension.js';
import { CHECKED } from '../testing/properties.js';
import { dimension, TEAMS, WINDOW_MS } from '../testing/scenarios.js';
import { Awaited } from './awaited.js';
import { FairQueue } from './fair-queue.js';
import type { Flow } from './flow.js';
import { GrantPass } from './grant-pass.js';
import { Reservations } from './reservations.js';
import type { Ticket } from './ticket.js';

interface Arrival {
  readonly afterMs: Milliseconds;
  readonly team: number;
  readonly model: string;
  readonly tokens: number;
  readonly output?: number;
  readonly priority: Priority;
}

interface Waiting extends Ticket<Flow> {
  grantedAt: Milliseconds | undefined;
  /** The first time that it was told, as head, when it would be granted. */
  eta: Milliseconds;
}

/** An account with a queue, and nothing of promises, deadlines or turns. */
class Account {
  now: Milliseconds = 5_000;
  readonly tickets: Waiting[] = [];
  readonly reservations = new Reservations();
  private readonly passes = new GrantPass(this.reservations, new Awaited());
  private readonly queue = new FairQueue();
  private readonly ledger: MemoryLedger;

  constructor(dimensions: readonly DimensionSpec[]) {
    const make = (spec: DimensionSpec, at: Milliseconds): ReturnType<typeof createDimension> =>
      createDimension(spec, at, { presumeSpent: false });
    this.ledger = new MemoryLedger(dimensions, make, () => this.now);
  }

  get waiting(): Waiting[] {
    return this.tickets.filter((ticket) => ticket.waiting);
  }

  /** Time passes, with looks at the times that the pass asks for; then a newcomer comes. */
  arrive({ afterMs, team, model, tokens, output = 0, priority }: Arrival, afterLook: () => void): void {
    this.pass(this.now + afterMs, afterLook);
    const member = TEAMS[team] ?? { id: 'a', weight: 1 };
    const target = { account: 'main', model };
    const flow = this.queue.flow(target, member, () => this.ledger.vector(target, member.id));
    this.queue.add(this.ticket(flow, { inputTokens: tokens, outputTokens: output }, priority));
    this.look();
    afterLook();
  }

  pass(until: Milliseconds, afterLook: () => void): void {
    for (let next = this.look(); next < Infinity && next <= until; next = this.look()) {
      expect(next).toBeGreaterThan(this.now);
      this.now = next;
      this.look();
      afterLook();
    }
    if (until < Infinity) this.now = until;
  }

  fits({ flow, cost }: Waiting): boolean {
    return blockOf(flow.vector, cost, this.now) === undefined;
  }

  /** When a ticket could go, if nothing else did. */
  earliest({ flow, cost }: Waiting): Milliseconds {
    return blockOf(flow.vector, cost, this.now)?.at ?? this.now;
  }

  /**
   * Whether a ticket would take what the waiting of the model with a limit of its own may still use, from a flow that has
   * had its fair share of the window. Counted from the grants, and not from what the pass remembers.
   */
  borrows({ flow, cost }: Waiting): boolean {
    const entitled = this.waiting.filter((other) => other.flow.model !== flow.model && isCapped(other.flow));
    if (entitled.length === 0) return false;
    return flow.vector.some((shared) => {
      if (shared.spec.scope !== 'account') return false;
      const amount = (ticket: Pick<Ticket, 'cost'>): number => amountOf(shared.spec.unit, ticket.cost);
      const recent = this.tickets.filter((ticket) => ticket.flow === flow && this.isRecent(ticket));
      const rivals = new Set(
        this.tickets.filter((ticket) => ticket.waiting || this.isRecent(ticket)).map((ticket) => ticket.flow),
      );
      const weights = [...rivals].reduce((sum, { team }) => sum + team.weight, 0);
      const share = (shared.limit * flow.team.weight) / weights;
      const wanted = entitled.reduce((sum, ticket) => sum + amount(ticket), amount({ cost }));
      return total(recent, amount) >= share - 1e-6 && wanted > shared.limit - shared.used(this.now) - 1e-6;
    });
  }

  private isRecent({ grantedAt }: Waiting): boolean {
    return grantedAt !== undefined && grantedAt > this.now - WINDOW_MS;
  }

  private look(): Milliseconds {
    return this.queue.waiting > 0 ? this.passes.run(new Map([['main', this.queue]]), this.now) : Infinity;
  }

  private ticket(flow: Flow, cost: Cost, priority: Priority): Waiting {
    const ticket: Waiting = {
      flow,
      age: this.tickets.length,
      priority,
      cost,
      share: flow.model.shareOf(cost),
      askedAt: this.now,
      deadline: Infinity,
      tag: Infinity,
      waiting: true,
      boundBy: undefined,
      grantedAt: undefined,
      eta: Infinity,
      grant: (now) => {
        if (!this.ledger.admit(flow.vector, cost, now)) return false;
        this.reservations.release(ticket);
        if (this.queue.isContested(flow.model)) flow.spend(cost, now);
        this.queue.serve(ticket);
        ticket.grantedAt = now;
        return true;
      },
    };
    this.tickets.push(ticket);
    return ticket;
  }
}

function isCapped({ vector }: Flow): boolean {
  return vector.some(({ spec }) => spec.scope === 'model' && spec.limit !== Infinity);
}

function total(tickets: readonly Waiting[], amount: (ticket: Waiting) => number): number {
  return tickets.reduce((sum, ticket) => sum + amount(ticket), 0);
}

const arrivals = (model: fc.Arbitrary<string>): fc.Arbitrary<Arrival[]> =>
  fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 600 }),
      team: fc.integer({ min: 0, max: 2 }),
      model,
      tokens: fc.integer({ min: 0, max: 400 }),
      output: fc.integer({ min: 0, max: 400 }),
      priority: fc.constantFrom<Priority>('high', 'normal', 'low'),
    }),
    { minLength: 2, maxLength: 25 },
  );

const limits = fc
  .record({
    requests: fc.integer({ min: 1, max: 20 }),
    tokens: fc.integer({ min: 800, max: 2_000 }),
    modelTokens: fc.option(fc.integer({ min: 800, max: 1_200 }), { nil: undefined }),
  })
  .map(({ requests, tokens, modelTokens }) => [
    dimension({}, 'requests', requests),
    dimension({}, 'tokens', tokens),
    ...(modelTokens === undefined ? [] : [dimension({ model: 'm' }, 'tokens', modelTokens)]),
  ]);

const separateLimits = fc
  .record({
    requests: fc.integer({ min: 3, max: 20 }),
    input: fc.integer({ min: 400, max: 1_500 }),
    output: fc.integer({ min: 400, max: 1_500 }),
    modelOutput: fc.option(fc.integer({ min: 400, max: 1_000 }), { nil: undefined }),
  })
  .map(({ requests, input, output, modelOutput }) => [
    dimension({}, 'requests', requests),
    dimension({}, 'input_tokens', input),
    dimension({}, 'output_tokens', output),
    ...(modelOutput === undefined ? [] : [dimension({ model: 'm' }, 'output_tokens', modelOutput)]),
  ]);

const ARRIVAL: Arrival = { afterMs: 0, team: 0, model: 'm', tokens: 0, priority: 'normal' };

describe('grant pass', () => {
  it.each([
    { tokens: 'together', limits },
    { tokens: 'input and output apart', limits: separateLimits },
  ])(
    'property 6: who fits, moves nobody’s eta and borrows from nobody is granted at this instant; $tokens',
    (given) => {
      fc.assert(
        fc.property(given.limits, arrivals(fc.constantFrom('m', 'n')), (limit, list) => {
          const account = new Account(limit);
          const nobodyForgotten = (): void => {
            for (const ticket of account.waiting) {
              if (!account.fits(ticket) || account.reservations.delayedBy(ticket, account.now)) continue;
              expect(account.borrows(ticket)).toBe(true);
            }
          };
          for (const arrival of list) account.arrive(arrival, nobodyForgotten);
          account.pass(Infinity, nobodyForgotten);
          expect(account.waiting.length).toBe(0);
        }),
        CHECKED,
      );
    },
  );

  it('counts a team in again that its own limit stops no more', () => {
    const account = new Account([
      dimension({}, 'requests', 2, { burst: 2 }),
      dimension({ model: 'm' }, 'requests', 10),
      dimension({ team: 'a' }, 'requests', 1, { windowMs: 1_000 }),
    ]);
    for (const [team, model] of [
      [0, 'm'],
      [0, 'm'],
      [1, 'n'],
    ] as const)
      account.arrive({ ...ARRIVAL, team, model }, () => undefined);
    const [waiting] = account.waiting;
    expect(waiting?.flow.model.isEntitled).toBe(false);
    account.pass(7_000, () => undefined);
    expect(waiting?.waiting).toBe(true);
    expect(waiting?.flow.model.isEntitled).toBe(true);
  });

  it('does not hold against a flow what it was given while no other model waited', () => {
    const account = new Account([
      dimension({}, 'requests', 4, { burst: 1 }),
      dimension({ model: 'm' }, 'requests', 3, { burst: 1 }),
    ]);
    for (const model of ['n', 'm', 'm']) account.arrive({ ...ARRIVAL, model }, () => undefined);
    account.pass(12_000, () => undefined);
    const [of = account.tickets[1]] = account.waiting;
    expect(of?.flow.recent).toBeUndefined();
    for (const model of ['n', 'n', 'n', 'm', 'm']) account.arrive({ ...ARRIVAL, model }, () => undefined);
    account.pass(24_000, () => undefined);
    expect(of?.flow.recent).toBeDefined();
  });

  it('property 8: a head is granted by its eta, and its eta never moves later', () => {
    fc.assert(
      fc.property(limits, arrivals(fc.constant('m')), (limit, list) => {
        const account = new Account(limit);
        let head: Waiting | undefined;
        const etasKept = (): void => {
          if (head?.grantedAt !== undefined) {
            expect(head.grantedAt).toBeLessThanOrEqual(head.eta + 0.01);
            head = undefined;
          }
          const owners = account.waiting.filter((ticket) => ticket.flow.pinned === ticket);
          if (owners.length === 1) head ??= owners[0];
          if (head === undefined) return;
          expect(account.earliest(head)).toBeLessThanOrEqual(head.eta + 0.01);
          head.eta = account.earliest(head);
        };
        for (const arrival of list) account.arrive(arrival, etasKept);
        account.pass(Infinity, etasKept);
        expect(account.waiting.length).toBe(0);
      }),
      CHECKED,
    );
  });
});
