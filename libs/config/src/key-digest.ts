import { hash } from 'node:crypto';

/** How the configuration writes a key: `sha256:` and the 64 lower-case hex digits of the key's SHA-256. */
export type KeyDigest = `sha256:${string}`;

/**
 * The digest of a key that a caller sent, to compare with configured ones.
 * A plain hash is enough because keys are long and random; it would not be for passwords.
 */
export function digestKey(key: string): KeyDigest {
  return `sha256:${hash('sha256', key)}`;
}
