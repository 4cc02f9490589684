import type { Milliseconds } from '@weir/kernel';
import { BucketWindow } from './bucket-window.js';
import { FixedWindow } from './fixed-window.js';
import { QuantumWindow } from './quantum-window.js';
import { SlidingWindow } from './sliding-window.js';
import type { QuotaWindow } from './window.js';

/** How a window is enforced, as the control API writes it. */
export type Shape =
  | 'sliding'
  | 'fixed'
  | { /** Phase of the edges after midnight UTC, in seconds. */ readonly fixed: number }
  | { /** Most requests at once. */ readonly bucket: number }
  | { /** Length of a quantum, in real seconds whatever the window is. */ readonly quantum: number };

/** What a window counts: a bucket's capacity is a number of requests and says nothing about tokens. */
export type Unit = 'requests' | 'tokens';

/** The window for `limit` units in every `windowMs`. A token bucket holds its whole limit. */
export function buildWindow(shape: Shape, unit: Unit, limit: number, windowMs: Milliseconds): QuotaWindow {
  if (shape === 'sliding') return new SlidingWindow(limit, windowMs);
  if (shape === 'fixed') return new FixedWindow(limit, windowMs);
  if ('fixed' in shape) return new FixedWindow(limit, windowMs, shape.fixed * 1000);
  if ('quantum' in shape) return new QuantumWindow(limit, windowMs, shape.quantum * 1000);
  return new BucketWindow(limit, windowMs, unit === 'requests' ? shape.bucket : limit);
}
