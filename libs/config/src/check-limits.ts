import type { DraftFile } from './check-form.js';
import { formatPath, type Fault, type FieldPath } from './fault.js';

type DraftAccount = NonNullable<NonNullable<DraftFile['accounts']>[number]>;
type DraftLimits = NonNullable<DraftAccount['limits']>;

const PER_MINUTE = [
  'requestsPerMinute',
  'tokensPerMinute',
  'inputTokensPerMinute',
  'outputTokensPerMinute',
] as const;

/** Limits that contradict each other, or that could never bind. */
export function checkLimits(draft: DraftFile): readonly Fault[] {
  const accounts = draft.accounts ?? [];
  const teams = draft.teams ?? [];
  return [
    ...accounts.flatMap((account, index) => (account ? checkAccount(account, ['accounts', index]) : [])),
    ...teams.flatMap((team, index) => checkBurst(team?.limits ?? {}, ['teams', index, 'limits'])),
  ];
}

function checkAccount(account: DraftAccount, path: FieldPath): readonly Fault[] {
  const own = account.limits ?? {};
  const windowSeconds = account.windowSeconds ?? 60;
  const models = Object.entries(account.models ?? {}).map(
    ([name, model]) => [[...path, 'models', name, 'limits'], model?.limits ?? {}] as const,
  );
  const shaped = [own, ...models.map(([, limits]) => limits)];
  return [
    ...checkBurst(own, [...path, 'limits']),
    ...checkShape({ limits: own, shaped, requests: own.requestsPerMinute, windowSeconds }, [
      ...path,
      'limits',
    ]),
    ...models.flatMap(([at, limits]) => [
      ...checkBurst(limits, at),
      ...checkShape(
        {
          limits,
          shaped: [limits],
          requests: limits.requestsPerMinute ?? own.requestsPerMinute,
          windowSeconds,
        },
        at,
      ),
    ]),
  ];
}

function checkBurst(limits: DraftLimits, path: FieldPath): readonly Fault[] {
  const { burst, requestsPerMinute } = limits;
  const at = [...path, 'burst'];
  if (burst === undefined) return [];
  if (!('requestsPerMinute' in limits))
    return [fault(at, burst, 'only beside requestsPerMinute, whose burst it is')];
  if (requestsPerMinute !== undefined && burst > requestsPerMinute) {
    return [fault(at, burst, `at most requestsPerMinute, ${requestsPerMinute}`)];
  }
  return [];
}

interface Shaped {
  readonly limits: DraftLimits;
  /** Everything that the shape is for. */
  readonly shaped: readonly DraftLimits[];
  /** The request limit that a bucket's capacity is a part of. */
  readonly requests: number | undefined;
  readonly windowSeconds: number;
}

function checkShape({ limits, shaped, requests, windowSeconds }: Shaped, path: FieldPath): readonly Fault[] {
  const { shape, burst } = limits;
  if (shape === undefined) return [];
  const at = [...path, 'shape'];
  const shown = JSON.stringify(shape);
  if (!shaped.some((each) => PER_MINUTE.some((quantity) => quantity in each))) {
    return [fault(at, shown, 'only beside a limit per minute, whose shape it is')];
  }
  if (typeof shape === 'string') return [];
  if ('bucket' in shape) return checkBucket(shape.bucket, { requests, burst }, path);
  return checkQuantum('quantum' in shape ? shape.quantum : undefined, { requests, windowSeconds }, at);
}

function checkBucket(
  bucket: number | undefined,
  { requests, burst }: { readonly requests: number | undefined; readonly burst: number | undefined },
  path: FieldPath,
): readonly Fault[] {
  const at = [...path, 'shape'];
  if (bucket === undefined) return [];
  if (requests === undefined) {
    return [
      fault(at, `{"bucket":${bucket}}`, 'a bucket only beside requestsPerMinute, because it counts requests'),
    ];
  }
  if (bucket > requests)
    return [fault(at, `{"bucket":${bucket}}`, `a bucket of at most requestsPerMinute, ${requests}`)];
  if (burst !== undefined && burst > bucket) {
    return [fault([...path, 'burst'], burst, `at most the bucket of the shape, ${bucket}`)];
  }
  return [];
}

/** A slice that is shorter than the time of one request would admit none. */
function checkQuantum(
  quantum: number | undefined,
  { requests, windowSeconds }: { readonly requests: number | undefined; readonly windowSeconds: number },
  at: FieldPath,
): readonly Fault[] {
  if (quantum === undefined) return [];
  const shortest = requests === undefined ? 0 : windowSeconds / requests;
  if (quantum > windowSeconds) {
    return [fault(at, `{"quantum":${quantum}}`, `a quantum of at most windowSeconds, ${windowSeconds}`)];
  }
  if (quantum < shortest * (1 - Number.EPSILON)) {
    const allowed = `a quantum of at least ${shortest} s, the time of one request at ${requests} in ${windowSeconds} s`;
    return [fault(at, `{"quantum":${quantum}}`, allowed)];
  }
  return [];
}

function fault(path: FieldPath, value: number | string, allowed: string): Fault {
  return { path: formatPath(path), value: String(value), allowed };
}
