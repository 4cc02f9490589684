import { seededRandom, systemClock, systemTimers, type CallIdentity, type Milliseconds } from '@weir/kernel';
import { createLimiter, type DimensionSpec, type Permit, type Turn } from '@weir/limiter';
import type { Contender } from './contender.js';

/** One string each, as a team's requests have it from its configuration. */
const TEAMS = Array.from({ length: 50 }, (_, index) => `team-${index}`);
const MINUTE_MS: Milliseconds = 60_000;
const TARGET = { account: 'main', model: 'm' };
/** Never reached. */
const PLENTY = 1e12;
/** Room for what the bench itself remembers, made at the start so that no waiter is charged for it. */
const MOST_WAITERS = 131_072;
/** Nobody is refused early: 100,000 at one a second take a day. */
const PATIENCE_MS: Milliseconds = 1e9;

/**
 * Weir's limiter with everything that the gateway has: six dimensions a request (account: requests, tokens, slots;
 * model: requests, tokens; team: tokens), fifty teams, deadlines. The account's requests are what binds.
 * @param signals `each`: every caller brings an AbortSignal of its own; `none`: nobody has one
 */
export function weirContender(perSecond: number, signals: 'none' | 'each'): Contender {
  const limiter = createLimiter({
    dimensions: dimensions(perSecond),
    teams: TEAMS.map((id) => ({ id, weight: 1 })),
    queue: { maxWaitMs: PATIENCE_MS, maxDepth: 1_000_000, maxDepthPerTeam: 1_000_000 },
    clock: systemClock,
    timers: systemTimers,
    random: seededRandom(1),
    presumeSpent: false,
  });
  const identities = TEAMS.map(identityOf);
  const ask = { target: TARGET, cost: { inputTokens: 100, outputTokens: 100 } };
  const turns = new Array<Turn | undefined>(MOST_WAITERS);
  return {
    acquire: (index) => {
      const identity = identities[index % TEAMS.length] ?? identityOf('team-0');
      const turn = limiter.enter({ identity, deadline: Infinity });
      turns[index] = turn;
      return turn.acquire(ask, signals === 'none' ? undefined : new AbortController().signal);
    },
    release: (granted, index) => {
      if (isPermit(granted)) granted.settle({ inputTokens: 100, outputTokens: 100 });
      turns[index]?.leave();
    },
    flowOf: (index) => index % TEAMS.length,
  };
}

function dimensions(perSecond: number): readonly DimensionSpec[] {
  const common = { windowMs: MINUTE_MS, shape: { kind: 'sliding' }, delaySpreadMs: 250 } as const;
  const account = { ...common, scope: 'account', account: TARGET.account } as const;
  const model = { ...common, ...TARGET, scope: 'model' } as const;
  const teams = TEAMS.map((team): DimensionSpec => {
    return { ...common, id: `team:${team}`, scope: 'team', team, unit: 'tokens', limit: PLENTY };
  });
  return [
    { ...account, id: 'a:requests', unit: 'requests', limit: perSecond * 60, burst: burstOf(perSecond) },
    { ...account, id: 'a:tokens', unit: 'tokens', limit: PLENTY },
    { ...account, id: 'a:slots', unit: 'slots', limit: PLENTY },
    { ...model, id: 'm:requests', unit: 'requests', limit: PLENTY },
    { ...model, id: 'm:tokens', unit: 'tokens', limit: PLENTY },
    ...teams,
  ];
}

/** Evenly, where there is a rate to keep. */
function burstOf(perSecond: number): number {
  return perSecond < 1e6 ? 1 : perSecond;
}

function identityOf(team: string): CallIdentity {
  return { requestId: 'r', team, model: 'm', operation: 'chat', template: 'none', priority: 'normal' };
}

function isPermit(value: unknown): value is Permit {
  return typeof value === 'object' && value !== null && 'settle' in value;
}
