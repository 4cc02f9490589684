import type { DimensionSpec } from '../dimension.js';
import { peak, type Send } from './walk.js';

/** Property 1 for one life: what was violated, if anything. */
export function sentTooMuch(spec: DimensionSpec, sends: readonly Send[]): string | undefined {
  const { shape, limit, windowMs, delaySpreadMs } = spec;
  if (shape.kind === 'bucket') return bucketRunsDry(spec, shape.capacity, sends);
  const inWindow = peak(sends, windowMs + delaySpreadMs);
  if (inWindow > limit) return `${inWindow} of ${limit} in W + J`;
  if (shape.kind !== 'quantum') return undefined;
  const share = Math.max(1, Math.floor((limit * shape.quantumMs) / windowMs));
  const single = Math.max(share, ...sends.map((send) => send.amount));
  const inQuantum = peak(sends, shape.quantumMs + delaySpreadMs);
  return inQuantum > single ? `${inQuantum} of ${share} in q + J` : undefined;
}

/** Each debit at its worst: the earlier ones arrive J late, it does not. */
function bucketRunsDry(spec: DimensionSpec, capacity: number, sends: readonly Send[]): string | undefined {
  const rate = spec.limit / spec.windowMs;
  let level = capacity;
  let last = -Infinity;
  for (const send of sends) {
    const seen = Math.min(capacity, level + Math.max(0, send.at - last) * rate);
    if (seen < send.amount - 1e-3) return `${seen} in the bucket for ${send.amount}`;
    const late = send.at + spec.delaySpreadMs;
    level = Math.min(capacity, level + Math.max(0, late - last) * rate) - send.amount;
    last = Math.max(last, late);
  }
  return undefined;
}
