import {
  EventReader,
  isRecord,
  parseJson,
  SseDecoder,
  type ChoiceFacts,
  type CompletionFacts,
  type SseEvent,
} from '@weir/protocol';
import type { Assembly, AssemblyOutput } from './assembly.js';
import { readChoiceless } from './choiceless.js';
import type { Fault } from './fault.js';
import type { StreamTally } from './stream-tally.js';

/**
 * A stream, frame by frame. It is whole once every choice has finished or `[DONE]` came; the last frames
 * (usage, `[DONE]`, comments) are then still forwarded, and an error among them is only information.
 */
export class StreamAssembly implements Assembly {
  private readonly decoder = new SseDecoder();
  private readonly reader = new EventReader();
  private readonly running = new Set<number>();
  private readonly closed = new Set<number>();
  /** Something of an answer came: choices, or what they cost. */
  private sawAnswer = false;
  /** What is a refusal where no output follows, and how much had come before it. */
  private complaint: { readonly body: Buffer; readonly after: number } | undefined;
  private sawEnd = false;
  private over = false;

  /** @param dropUsageOnly leave out the chunk that only came because the gateway asked for it */
  constructor(
    private readonly output: AssemblyOutput,
    private readonly tally: StreamTally,
    private readonly dropUsageOnly: boolean,
  ) {}

  get pendingBytes(): number {
    return this.decoder.pendingBytes;
  }

  /** Whether nothing is missing. */
  private get isWhole(): boolean {
    return this.sawEnd || (this.closed.size > 0 && this.running.size === 0);
  }

  push(chunk: Buffer): void {
    this.decoder.push(chunk, (event) => {
      this.event(event);
    });
    if (this.decoder.pendingBytes > 0) this.output.alive();
  }

  end(): void {
    this.decoder.end((event) => {
      this.event(event);
    });
    if (this.over) return;
    if (this.isWhole) this.complete();
    else this.fail(this.refusal ?? (this.tally.bytes === 0 ? { kind: 'empty' } : { kind: 'cut' }));
  }

  cut(cause?: unknown): void {
    if (this.over) return;
    if (this.isWhole) this.complete();
    else this.fail({ kind: 'cut', cause });
  }

  private event(event: SseEvent): void {
    if (this.over) return;
    if (this.sawEnd) {
      // What a provider adds after its own end is passed on, and means nothing.
      this.forward(event, false);
      return;
    }
    if (event.data !== undefined) this.output.alive();
    const reading = this.reader.read(event);
    switch (reading.kind) {
      case 'text':
        this.tally.generated(reading.visibleBytes);
        this.forward(event, true);
        return;
      case 'chunk':
        this.chunk(event, reading.facts);
        return;
      case 'error':
        this.error(event, reading.body, reading.facts);
        return;
      case 'done':
        this.done(event);
        return;
      case 'nothing':
      case 'unreadable':
        // Half an event at the end is not handed out as if it were one.
        if (event.terminated || this.isWhole) this.forward(event, false);
    }
  }

  private chunk(event: SseEvent, facts: CompletionFacts): void {
    if (facts.choices.length > 0) this.sawAnswer = true;
    else if (!this.isWhole && this.isRefusal(event, facts)) return;
    this.tally.learned(facts);
    for (const choice of facts.choices) this.follow(choice);
    if (!(facts.usageOnly && this.dropUsageOnly)) {
      this.forward(
        event,
        facts.choices.some((choice) => choice.visible),
      );
    }
    this.sawEnd ||= facts.ended;
    if (this.isWhole) this.output.finished(this.sawEnd);
  }

  /** Looks into what has no choices: filter results, usage, events of other dialects, or a no. */
  private isRefusal({ data }: SseEvent, facts: CompletionFacts): boolean {
    const json = parseJson(data?.toString('utf8') ?? '');
    const content = isRecord(json) ? readChoiceless(json) : 'nothing';
    if (data !== undefined && content === 'refusal') {
      this.fail({ kind: 'refused', inBand: true, body: data });
      return true;
    }
    if (data !== undefined && content === 'complaint' && this.refusal === undefined)
      this.complaint = { body: data, after: this.tally.visibleBytes };
    this.sawAnswer ||= content === 'answer' || facts.usage !== undefined || facts.ended;
    return false;
  }

  /** The complaint that was the last word; none where it came after the end. */
  private get refusal(): Fault | undefined {
    const { complaint } = this;
    if (complaint?.after !== this.tally.visibleBytes || this.isWhole) return undefined;
    return { kind: 'refused', inBand: true, body: complaint.body };
  }

  /** A choice that finished stays finished: Azure sends filter results after it. */
  private follow(choice: ChoiceFacts): void {
    if (choice.finishReason !== undefined) {
      this.closed.add(choice.index);
      this.running.delete(choice.index);
    } else if (!this.closed.has(choice.index)) this.running.add(choice.index);
  }

  private error(event: SseEvent, body: Buffer, facts: CompletionFacts): void {
    if (facts.usage) this.tally.learned({ ...facts, choices: [] });
    if (this.isWhole) this.forward(event, false);
    else this.fail({ kind: 'refused', inBand: true, body });
  }

  /** `[DONE]` without anything of an answer is an empty generation: safe to ask again. */
  private done(event: SseEvent): void {
    const fault = this.refusal ?? (this.sawAnswer ? undefined : ({ kind: 'empty' } as const));
    if (fault) {
      this.fail(fault);
      return;
    }
    this.sawEnd = true;
    this.forward(event, false);
    this.output.finished(true);
  }

  private forward(event: SseEvent, visible: boolean): void {
    this.output.frame({ bytes: event.bytes, visible });
  }

  private complete(): void {
    this.over = true;
    this.output.complete();
  }

  private fail(fault: Fault): void {
    this.over = true;
    this.output.fault(fault);
  }
}
