import type { DimensionStatus, DimensionUnit } from '@weir/limiter';

const BY_UNIT: Readonly<Record<DimensionUnit, string>> = {
  requests: 'rpm',
  tokens: 'tpm',
  input_tokens: 'itpm',
  output_tokens: 'otpm',
  slots: 'concurrency',
  requests_per_day: 'rpd',
};

/** Whether a dimension is the gate of a circuit breaker: it has gauges of its own and is no limit of a provider. */
export function isBreakerGate(id: string): boolean {
  return id.startsWith('breaker:');
}

/** The short name of a dimension's kind, as label `weir_bucket`; those of teams are told apart. */
export function bucketLabel({ unit, scope }: Pick<DimensionStatus, 'unit' | 'scope'>): string {
  return scope === 'team' ? `team_${BY_UNIT[unit]}` : BY_UNIT[unit];
}

/** A dimension's id to its label: `none` where nothing bound, `other` for an id that nobody knows. */
export type Buckets = (dimension: string | undefined) => string;

/** Asks `dimensions` only for ids that it has not met; dimensions are configured, so there are few. */
export function bucketOf(dimensions: () => readonly DimensionStatus[]): Buckets {
  const known = new Map<string, string>();
  return (dimension) => {
    if (dimension === undefined) return 'none';
    const label = known.get(dimension);
    if (label !== undefined) return label;
    for (const status of dimensions())
      known.set(status.id, isBreakerGate(status.id) ? 'breaker' : bucketLabel(status));
    return known.get(dimension) ?? 'other';
  };
}
