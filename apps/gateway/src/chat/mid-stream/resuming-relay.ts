import { GatewayError, type Timers } from '@weir/kernel';
import type { Frame } from '@weir/upstream';
import { isHead, type Outgoing } from '../../delivery/outgoing.js';
import type { ChatCall } from '../chat-call.js';
import type { Granted } from '../granted.js';
import { WAITING_EVERY_MS, whileWaiting } from '../while-waiting.js';
import { callForTheRest, callForTheWhole } from './again.js';
import { breakOf } from './break-of.js';
import { DeliveredText, NOTHING_SAID } from './delivered-text.js';
import type { Relay, RelaySteps } from './relay.js';
import { ResumedFrames, type Seam } from './resumed-frames.js';

/** An attempt that is open, and the call that it answers. */
interface Open {
  readonly call: ChatCall;
  readonly granted: Granted;
}

/** An answer that broke, and the call that may make it good. */
interface Break {
  readonly error: GatewayError;
  readonly granted: Granted;
  readonly call: ChatCall;
}

/** Frames of one answer, made good by further attempts where it breaks. Never are two permits out at the same time. */
export class ResumingRelay implements Relay {
  readonly outgoing: AsyncIterable<Outgoing>;
  private readonly delivered: DeliveredText;
  private open: Open | undefined;
  private resumes = 0;
  private charged = { inputTokens: 0, outputTokens: 0 };

  /** @param continues ask for the rest only, where else the whole is asked again */
  constructor(
    private readonly call: ChatCall,
    first: Granted,
    private readonly continues: boolean,
    private readonly parts: { readonly steps: RelaySteps; readonly timers: Timers },
  ) {
    this.delivered = new DeliveredText(continues);
    this.open = { call, granted: first };
    this.outgoing = this.run(first.answer.frames);
  }

  broke(error: GatewayError): void {
    if (this.open) this.parts.steps.broke(this.open.granted, error);
  }

  settle(): void {
    if (this.open === undefined) return;
    const { call, granted } = this.open;
    this.open = undefined;
    const { inputTokens, outputTokens } = this.parts.steps.settle(call, granted);
    this.charged = {
      inputTokens: this.charged.inputTokens + inputTokens,
      outputTokens: this.charged.outputTokens + outputTokens,
    };
  }

  private async *run(frames: AsyncIterable<Outgoing>): AsyncGenerator<Outgoing> {
    let source = frames;
    for (;;) {
      try {
        for await (const outgoing of source) {
          if (!isHead(outgoing)) this.delivered.add(outgoing);
          yield outgoing;
        }
        return;
      } catch (thrown) {
        const broken = this.breakOf(thrown);
        if (broken === undefined) throw thrown;
        this.broke(broken.error);
        this.settle();
        source = this.resumed(broken);
      }
    }
  }

  /** Without an open attempt it is the search for the next one that failed. */
  private breakOf(thrown: unknown): Break | undefined {
    const error = breakOf(thrown);
    if (error === undefined || this.open === undefined || !this.delivered.onlyText) return undefined;
    const { granted } = this.open;
    const resume = { number: this.resumes + 1, fromChunk: this.delivered.chunks };
    const whole = callForTheWhole(this.call, granted.permit.target, resume);
    const call = this.continues ? callForTheRest(whole, this.delivered) : whole;
    return call && { error, granted, call };
  }

  /** What the next attempt has to add; comments where it keeps the caller waiting. */
  private async *resumed(broken: Break): AsyncGenerator<Outgoing> {
    const { steps, timers } = this.parts;
    const patience = { timers, firstMs: WAITING_EVERY_MS, everyMs: WAITING_EVERY_MS };
    const granted = yield* whileWaiting(this.reopen(broken), patience);
    yield steps.head(granted);
    const frames = joined(granted.answer.frames, new ResumedFrames(this.seam()));
    const first = yield* whileWaiting(frames.next(), patience);
    if (first.done === true) return;
    yield first.value;
    yield* frames;
  }

  /** @throws the break itself where nobody makes it good: what came after it says less to the caller */
  private async reopen({ call, granted, error }: Break): Promise<Granted> {
    this.resumes += 1;
    try {
      const next = await this.parts.steps.reopen(call, { granted, error });
      this.open = { call, granted: next };
      return next;
    } catch (thrown) {
      const isNo = thrown instanceof GatewayError && thrown.code !== 'client_disconnected';
      throw isNo ? error : thrown;
    }
  }

  private seam(): Seam {
    const { identity = {}, prefix } = this.delivered;
    if (!this.continues) return { prefix, changes: { identity } };
    return { prefix: NOTHING_SAID, changes: { identity, usage: this.charged } };
  }
}

async function* joined(frames: AsyncIterable<Frame>, resumed: ResumedFrames): AsyncGenerator<Frame> {
  for await (const frame of frames) {
    const fresh = resumed.next(frame);
    if (fresh) yield fresh;
  }
}
