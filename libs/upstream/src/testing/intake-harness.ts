import { FakeClock } from '@weir/testing';
import { AnswerIntake, type Transport, type UpstreamTimeouts } from '../answer-intake.js';
import { profileOf } from '../profiles/profiles.js';
import type { Frame, UpstreamAnswer, UpstreamRequest } from '../stream-client.js';

/** Limits far apart, so that a test sees which one bit. */
export const TIMEOUTS: UpstreamTimeouts = {
  connectMs: 100,
  headersMs: 1000,
  firstFrameMs: 2000,
  idleMs: 3000,
  totalMs: 60_000,
};

/** A request whose content does not matter. */
export function plainRequest(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    identity: {
      requestId: 'r',
      team: 't',
      model: 'm',
      operation: 'chat',
      template: 'none',
      priority: 'normal',
    },
    target: { account: 'main', model: 'm' },
    attempt: 1,
    path: '/chat/completions',
    body: Buffer.from('{}'),
    stream: true,
    usageInjected: false,
    ...changes,
  };
}

/** An intake under virtual time, its connection and its outcome in plain sight. */
export class IntakeHarness {
  readonly clock = new FakeClock();
  readonly abort = new AbortController();
  readonly transport = { paused: false, aborted: false };
  readonly intake: AnswerIntake;
  readonly frames: Frame[] = [];
  answer: UpstreamAnswer | undefined;
  failure: unknown;
  ended = false;

  constructor(request: Partial<UpstreamRequest> = {}) {
    this.intake = new AnswerIntake({
      request: plainRequest(request),
      profile: profileOf('generic'),
      timeouts: TIMEOUTS,
      clock: this.clock,
      timers: this.clock,
      signal: this.abort.signal,
    });
    void this.intake.answer.then(
      (answer) => (this.answer = answer),
      (thrown: unknown) => (this.failure = thrown),
    );
  }

  connect(): void {
    const steer: Transport = {
      pause: () => (this.transport.paused = true),
      resume: () => (this.transport.paused = false),
      abort: () => (this.transport.aborted = true),
    };
    this.intake.connected(steer);
  }

  respond(
    status = 200,
    headers: Readonly<Record<string, string>> = { 'content-type': 'text/event-stream' },
  ): void {
    this.intake.responded(status, headers);
  }

  receive(...texts: readonly string[]): void {
    for (const text of texts) this.intake.received(Buffer.from(text));
  }

  /** Reads until the end or the failure, in the background. */
  async read(): Promise<void> {
    if (!this.answer) return;
    try {
      for await (const frame of this.answer.frames) this.frames.push(frame);
      this.ended = true;
    } catch (thrown) {
      this.failure = thrown;
    }
  }
}
