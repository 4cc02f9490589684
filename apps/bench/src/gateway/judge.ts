import type { Verdict } from '../verdict.js';
import type { LoadName } from './loads.js';
import type { Results } from './results.js';
import type { TargetName } from './targets.js';

interface Claim {
  readonly claim: string;
  readonly load: LoadName;
  readonly target: TargetName;
  readonly against: TargetName;
  readonly least: number;
}

/** What is asked of answers per CPU-second. Paced streams cost everybody mostly system calls, so no peer is judged there. */
const CLAIMS: readonly Claim[] = [
  ...telemetry('plain', 'plain answers', { tenth: 0.75, all: 0.45 }),
  ...telemetry('burst', 'streams', { tenth: 0.85, all: 0.55 }),
  ...telemetry('paced', 'paced streams', { tenth: 0.85, all: 0.55 }),
  ...(['plain', 'burst'] as const).map((load) => ({
    claim: `${load === 'plain' ? 'plain answers' : 'streams'} with all traces exported, against Portkey`,
    load,
    target: 'Weir, all exported' as const,
    against: 'Portkey' as const,
    least: 2.5,
  })),
];

/** Judges answers per CPU-second. */
export function judgeGateway(results: Results): readonly Verdict[] {
  return CLAIMS.map(({ claim, load, target, against, least }) => {
    const ratio = results.ratio(load, target, against);
    return { claim: `${claim}: at least ${least}x`, holds: ratio >= least, measured: `${ratio.toFixed(2)}x` };
  });
}

function telemetry(
  load: LoadName,
  what: string,
  least: { readonly tenth: number; readonly all: number },
): readonly Claim[] {
  const against = 'Weir, telemetry off' as const;
  return [
    {
      claim: `${what} with 10 % of traces exported, against telemetry off`,
      load,
      target: 'Weir, 10 % exported' as const,
      against,
      least: least.tenth,
    },
    {
      claim: `${what} with all traces exported, against telemetry off`,
      load,
      target: 'Weir, all exported' as const,
      against,
      least: least.all,
    },
  ];
}
