import type { Shape } from '../dimension.js';
import type { PacingPlan } from './pacing-run.js';
import type { ModelShape } from './provider-model.js';

/** Six providers that allow the same each minute, each in its own way. */
export const PROVIDERS: Readonly<Record<string, ModelShape>> = {
  sliding: 'sliding',
  fixed: 'fixed',
  'bucket(60)': { bucket: 60 },
  'bucket(10)': { bucket: 10 },
  '1 per second': { quantumMs: 1_000 },
  '10 per 10 s': { quantumMs: 10_000 },
};

/** 60 RPM and 1M TPM at twice what is there, 35 minutes after 5 of warm-up, shape unknown. */
export function standardPlan(seed: number, shape: ModelShape, bound: 'requests' | 'tokens'): PacingPlan {
  return {
    seed,
    provider: { limit: 60, windowMs: 60_000, shape },
    tokensPerWindow: 1_000_000,
    declared: { kind: 'unknown' },
    delaySpreadMs: 250,
    demand: bound === 'requests' ? 120 : 78,
    meanTokens: bound === 'requests' ? 11_000 : 25_600,
    largestTokens: 200_000,
    warmUpMs: 300_000,
    measuredMs: 2_100_000,
  };
}

/** The declaration that tells the truth about a provider. */
export function truthAbout(shape: ModelShape): Shape {
  if (typeof shape === 'string') return { kind: shape };
  return 'bucket' in shape
    ? { kind: 'bucket', capacity: shape.bucket }
    : { kind: 'quantum', quantumMs: shape.quantumMs };
}
