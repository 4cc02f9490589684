import { abortReason, GatewayError, type Clock, type Timers } from '@weir/kernel';
import { Pool } from 'undici';
import { AnswerIntake, type UpstreamTimeouts } from './answer-intake.js';
import type { ProfileId, ProviderProfile } from './profiles/profile.js';
import { profileOf } from './profiles/profiles.js';
import type { StreamClient, UpstreamAnswer, UpstreamRequest } from './stream-client.js';
import { UndiciExchange } from './undici-exchange.js';

/** One credential at one provider, as the client needs it. */
export interface UpstreamAccount {
  readonly id: string;
  /** Such as `https://api.example.com/v1`; a query string is kept (Azure's `api-version`). */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly profile: ProfileId;
  /** The account's slots: no more connections are opened than that. Undefined: no bound. */
  readonly connections: number | undefined;
}

/** Unused connections are kept this long unless the provider says less; most providers keep them a minute. */
const KEEP_ALIVE_MS = 30_000;

interface Line {
  readonly pool: Pool;
  readonly profile: ProviderProfile;
  readonly base: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * StreamClient over undici: one pool per account, HTTP/1.1, one request a connection at a time.
 * The client span is made inside `dispatch`, in the caller's async context; undici keeps that for queued requests.
 * It sends its own headers only: nothing of the caller's key, trace or baggage can leave.
 */
export class UndiciStreamClient implements StreamClient {
  private readonly lines: ReadonlyMap<string, Line>;

  constructor(
    accounts: readonly UpstreamAccount[],
    private readonly timeouts: UpstreamTimeouts,
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {
    this.lines = new Map(accounts.map((account) => [account.id, lineOf(account, timeouts)]));
  }

  open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    if (signal.aborted) return Promise.reject(abortReason(signal));
    const line = this.lines.get(request.target.account);
    if (!line) return Promise.reject(unknownAccount(request.target.account));
    const { clock, timers, timeouts } = this;
    const intake = new AnswerIntake({ request, profile: line.profile, timeouts, clock, timers, signal });
    line.pool.dispatch(
      {
        path: pathOf(line.base, request.path),
        method: 'POST',
        headers: { ...line.headers, accept: request.stream ? 'text/event-stream' : 'application/json' },
        body: request.body,
        // The watchdog keeps the waits: undici's own timers cannot tell a slow caller from a silent provider.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      new UndiciExchange(intake),
    );
    return intake.answer;
  }

  async close(): Promise<void> {
    await Promise.all([...this.lines.values()].map(({ pool }) => pool.destroy()));
  }
}

function lineOf(account: UpstreamAccount, timeouts: UpstreamTimeouts): Line {
  const base = new URL(account.baseUrl);
  const profile = profileOf(account.profile);
  return {
    pool: new Pool(base.origin, {
      connections: account.connections ?? null,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectTimeout: timeouts.connectMs,
    }),
    profile,
    base,
    headers: {
      [profile.keyHeader]:
        profile.keyHeader === 'authorization' ? `Bearer ${account.apiKey}` : account.apiKey,
      'content-type': 'application/json',
      // A compressed stream would be held back by the compressor, and its bytes could not be passed on as they came.
      'accept-encoding': 'identity',
      'user-agent': 'weir',
    },
  };
}

function pathOf(base: URL, path: string): string {
  return `${base.pathname.replace(/\/+$/, '')}${path}${base.search}`;
}

function unknownAccount(account: string): GatewayError {
  return new GatewayError('internal', `No account named ${account} is configured.`);
}
