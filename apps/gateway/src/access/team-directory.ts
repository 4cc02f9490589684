import { digestKey, type KeyDigest } from '@weir/config';
import { GatewayError } from '@weir/kernel';

/** Whose keys a directory holds; what a caller with another one is told. */
export type KeyKind = 'team' | 'admin';

/** Who may call, by the digest of a key. */
export interface KeyHolder {
  readonly keys: readonly KeyDigest[];
  /** True where the key is known to everybody and opens only from this machine. */
  readonly loopbackOnly: boolean;
}

const LOOPBACK = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/;
const BEARER = /^Bearer +(\S+)$/i;

/** The same for every unknown key: nobody learns from it whether a key opens another door. */
const UNKNOWN: Readonly<Record<KeyKind, string>> = {
  team: 'This API key is not known here. Ask the platform team for a team key.',
  admin: "This needs an admin key (server.adminKeys); a team's key does not open it.",
};

/**
 * Finds who holds a key. Keys are compared by digest in a map, so neither the configuration nor the time of
 * a look-up tells anything about them.
 */
export class TeamDirectory<Holder extends KeyHolder> {
  private listed: readonly Holder[] = [];
  private byDigest: ReadonlyMap<KeyDigest, Holder> = new Map();

  /** @param current the holders in force; the same list until a reload makes another */
  constructor(
    private readonly current: () => readonly Holder[],
    private readonly kind: KeyKind = 'team',
  ) {}

  /**
   * @param authorization the header as it came
   * @param remoteAddress the peer's address, without any proxy header: those can be forged
   * @throws GatewayError `unauthorized`
   */
  holderOf(authorization: string | undefined, remoteAddress: string | undefined): Holder {
    if (authorization === undefined) {
      throw new GatewayError(
        'unauthorized',
        `No API key. Send it in the header "Authorization: Bearer <${this.kind} key>".`,
      );
    }
    const key = BEARER.exec(authorization)?.[1];
    if (key === undefined) {
      throw new GatewayError(
        'unauthorized',
        `The Authorization header must read "Bearer <${this.kind} key>".`,
      );
    }
    const holder = this.digests().get(digestKey(key));
    if (!holder || (holder.loopbackOnly && !LOOPBACK.test(remoteAddress ?? ''))) {
      throw new GatewayError('unauthorized', UNKNOWN[this.kind]);
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
