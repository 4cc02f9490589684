import { GatewayError } from '@weir/kernel';

/** Repeatable property runs. */
export const FUZZ = { seed: 20_261_129, numRuns: 500 } as const;

/** The bytes cut into pieces of these sizes, over and over; each piece owns its memory, as reads do. */
export function pieces(bytes: Uint8Array, sizes: readonly number[]): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0; at < bytes.byteLength;) {
    const size = sizes[cut.length % sizes.length] ?? 1;
    cut.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return cut;
}

/** The GatewayError that the work throws. */
export function gatewayErrorOf(work: () => unknown): GatewayError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error('expected a GatewayError');
}
