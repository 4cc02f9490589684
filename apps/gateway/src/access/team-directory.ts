import { digestKey, type KeyDigest } from '@weir/config';
import { GatewayError } from '@weir/kernel';

/** Who may call, by the digest of a key. */
export interface KeyHolder {
  readonly keys: readonly KeyDigest[];
  /** True where the key is known to everybody and opens only from this machine. */
  readonly loopbackOnly: boolean;
}

const LOOPBACK = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/;
const BEARER = /^Bearer +(\S+)$/i;

/**
 * Finds who holds a key. Keys are compared by digest in a map, so neither the configuration nor the time of
 * a look-up tells anything about them.
 */
export class TeamDirectory<Holder extends KeyHolder> {
  private listed: readonly Holder[] = [];
  private byDigest: ReadonlyMap<KeyDigest, Holder> = new Map();

  /** @param current the holders in force; the same list until a reload makes another */
  constructor(private readonly current: () => readonly Holder[]) {}

  /**
   * @param authorization the header as it came
   * @param remoteAddress the peer's address, without any proxy header: those can be forged
   * @throws GatewayError `unauthorized`
   */
  holderOf(authorization: string | undefined, remoteAddress: string | undefined): Holder {
    if (authorization === undefined) {
      throw new GatewayError(
        'unauthorized',
        'No API key. Send it in the header "Authorization: Bearer <team key>".',
      );
    }
    const key = BEARER.exec(authorization)?.[1];
    if (key === undefined) {
      throw new GatewayError('unauthorized', 'The Authorization header must read "Bearer <team key>".');
    }
    const holder = this.digests().get(digestKey(key));
    if (!holder || (holder.loopbackOnly && !LOOPBACK.test(remoteAddress ?? ''))) {
      throw new GatewayError(
        'unauthorized',
        'This API key is not known here. Ask the platform team for a team key.',
      );
    }
    return holder;
  }

  private digests(): ReadonlyMap<KeyDigest, Holder> {
    const holders = this.current();
    if (holders !== this.listed) {
      this.listed = holders;
      this.byDigest = new Map(holders.flatMap((holder) => holder.keys.map((digest) => [digest, holder])));
    }
    return this.byDigest;
  }
}
