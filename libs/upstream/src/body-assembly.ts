import {
  completionFacts,
  completionToStream,
  DONE_EVENT,
  isErrorBody,
  isRecord,
  parseJson,
  type CompletionFacts,
} from '@weir/protocol';
import type { Assembly, AssemblyOutput } from './assembly.js';
import { readChoiceless } from './choiceless.js';
import type { Fault } from './fault.js';
import type { StreamTally } from './stream-tally.js';

/** The largest plain answer that is held, in bytes. */
export const MAX_PLAIN_BYTES = 32 * 1024 * 1024;
/** How much of a refusal is read, in bytes: enough for every body that was seen. */
export const MAX_REFUSAL_BYTES = 64 * 1024;

class HeldBody {
  private readonly chunks: Buffer[] = [];
  length = 0;

  add(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
  }

  join(): Buffer {
    const [only] = this.chunks;
    return this.chunks.length === 1 && only ? only : Buffer.concat(this.chunks);
  }
}

/** A refusal: read up to a bound, and judged by what came even where the rest is missing. */
export class RefusalAssembly implements Assembly {
  private readonly body = new HeldBody();

  constructor(private readonly output: AssemblyOutput) {}

  get pendingBytes(): number {
    return this.body.length;
  }

  push(chunk: Buffer): void {
    this.body.add(chunk);
    if (this.body.length >= MAX_REFUSAL_BYTES) this.end();
  }

  end(): void {
    this.output.fault({ kind: 'refused', inBand: false, body: this.body.join() });
  }

  cut(): void {
    this.end();
  }
}

/** A plain answer: held whole, so that a cut or a hidden error can still be retried. */
export class PlainAssembly implements Assembly {
  private readonly body = new HeldBody();

  /** @param streamWanted the caller asked for a stream, so the answer becomes one */
  constructor(
    private readonly output: AssemblyOutput,
    private readonly tally: StreamTally,
    private readonly streamWanted: boolean,
  ) {}

  get pendingBytes(): number {
    return this.body.length;
  }

  push(chunk: Buffer): void {
    this.output.alive();
    this.body.add(chunk);
    if (this.body.length > MAX_PLAIN_BYTES) this.output.fault({ kind: 'oversized' });
  }

  end(): void {
    const body = this.body.join();
    const text = body.toString('utf8').trim();
    if (text === '') {
      this.output.fault({ kind: 'empty' });
      return;
    }
    if (text.startsWith('<')) {
      this.output.fault({ kind: 'html' });
      return;
    }
    this.judge(body, unwrapList(parseJson(text)));
  }

  cut(cause?: unknown): void {
    this.output.fault({ kind: 'cut', cause });
  }

  private judge(body: Buffer, json: unknown): void {
    if (!isRecord(json)) {
      this.output.fault({ kind: 'garbled' });
      return;
    }
    const facts = completionFacts(json);
    const fault = faultIn(json, facts, body);
    if (fault) {
      this.output.fault(fault);
      return;
    }
    this.tally.learned(facts);
    for (const bytes of this.streamWanted ? completionToStream(json) : [body])
      this.output.frame({ bytes, visible: bytes !== DONE_EVENT });
    this.output.complete();
  }
}

/** What is wrong with a success; undefined where it is one. */
function faultIn(
  json: Readonly<Record<string, unknown>>,
  facts: CompletionFacts,
  body: Buffer,
): Fault | undefined {
  if (isErrorBody(json, facts)) return { kind: 'refused', inBand: true, body };
  const content = facts.choices.length > 0 ? 'answer' : readChoiceless(json);
  if (content === 'answer') return undefined;
  return content === 'nothing' ? { kind: 'empty' } : { kind: 'refused', inBand: true, body };
}

/** Gemini's compatible endpoint wraps errors in a list. */
function unwrapList(json: unknown): unknown {
  return Array.isArray(json) ? json[0] : json;
}
