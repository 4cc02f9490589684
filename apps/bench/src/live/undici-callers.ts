import { Agent, type Dispatcher } from 'undici';
import { z } from 'zod';
import type { EpochMilliseconds, Milliseconds, Random } from '@weir/kernel';
import { LIGHT_TEAM, TEAMS } from '../pacing/traffic.js';
import { openLoop } from './open-loop.js';
import { LOAD, MAX_WAIT_MS, QUOTA_RATE } from './plan.js';

/** How one call ended. */
export interface LiveCall {
  readonly team: string;
  readonly status: number;
  /** The gateway's word for a refusal; empty for answers. */
  readonly code: string;
  /** The refusal says when to come back. */
  readonly hinted: boolean;
  /** When the caller wished it, and when it had the head of the answer. */
  readonly askedAt: EpochMilliseconds;
  readonly headAt: EpochMilliseconds;
  /** What the gateway says it waited; NaN for refusals. */
  readonly waitMs: Milliseconds;
  /** When the provider says that it had it; NaN for refusals. */
  readonly receivedAt: EpochMilliseconds;
}

const Refusal = z.object({ error: z.object({ code: z.string() }) });

/** Calls that may be open at once; the gateway would keep fewer than that waiting. */
const MOST_OPEN = 4_000;
/** Nobody waits longer than this for anything, so a run ends. */
const PATIENCE_MS: Milliseconds = 3 * MAX_WAIT_MS;

export const MODEL = 'gemini-2.5-flash';

/** The key that a team calls with. */
export function teamKey(team: string): string {
  return `live-team-${team}`;
}

/** Five teams that ask for twice the quota. */
export class LiveCallers {
  readonly calls: LiveCall[] = [];
  private readonly open = new Set<Promise<void>>();
  private readonly agent = new Agent({
    connections: MOST_OPEN,
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });

  constructor(
    private readonly gatewayUrl: string,
    private readonly random: Random,
  ) {}

  /** Asks for so long; callers may still wait when it settles. */
  ask(forMs: Milliseconds): Promise<void> {
    return openLoop(LOAD * QUOTA_RATE, forMs, this.random, () => {
      if (this.open.size >= MOST_OPEN) throw new Error(`${MOST_OPEN} callers wait: the gateway hangs.`);
      const call = this.call(teamBy(this.random)).finally(() => this.open.delete(call));
      this.open.add(call);
    });
  }

  /** Settles when nobody waits any more. */
  async end(): Promise<void> {
    await Promise.all(this.open);
    await this.agent.close();
  }

  private async call(team: string): Promise<void> {
    const askedAt = Date.now();
    const response = await this.agent.request({
      origin: this.gatewayUrl,
      path: '/v1/chat/completions',
      method: 'POST',
      headers: {
        authorization: `Bearer ${teamKey(team)}`,
        'content-type': 'application/json',
        'x-weir-max-wait-ms': String(MAX_WAIT_MS),
      },
      body: JSON.stringify({
        model: MODEL,
        max_tokens: 8,
        messages: [{ role: 'user', content: `Question ${this.calls.length} of team ${team}` }],
      }),
    });
    const headAt = Date.now();
    this.calls.push({ team, askedAt, headAt, ...(await readAnswer(response)) });
  }
}

async function readAnswer({
  statusCode: status,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<Omit<LiveCall, 'team' | 'askedAt' | 'headAt'>> {
  const json = await body.json();
  const hinted = headers['retry-after-ms'] !== undefined;
  if (status !== 200) {
    return { status, code: Refusal.parse(json).error.code, hinted, waitMs: NaN, receivedAt: NaN };
  }
  return {
    ...{ status, code: '', hinted },
    waitMs: told(headers['x-weir-wait-ms']),
    receivedAt: told(headers['x-sim-received-at']),
  };
}

/** @throws where nothing was told: a call that cannot be judged must not pass */
function told(header: string | string[] | undefined): number {
  if (typeof header !== 'string') throw new Error('An answer lacks a header that the judge needs.');
  return Number(header);
}

function teamBy(random: Random): string {
  let left = random.next();
  for (const [id, share] of TEAMS) {
    left -= share;
    if (left < 0) return id;
  }
  return LIGHT_TEAM;
}
