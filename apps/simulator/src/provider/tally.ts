import type { Tokens } from '@weir/kernel';

/** Why a call was refused. `fault`: by script, or because it was malformed; the others name the quota. */
export type RefusalKind = 'requests' | 'tokens' | 'concurrency' | 'daily' | 'fault';

/** One line of the ledger, as the control API shows it. */
export interface TallyView {
  readonly received: number;
  readonly admitted: number;
  readonly completed: number;
  readonly aborted: number;
  readonly rejected: Readonly<Record<RefusalKind, number>>;
  /** Of completed answers. */
  readonly tokens: { readonly prompt: Tokens; readonly completion: Tokens };
  readonly peakRequests: number;
  readonly peakTokens: Tokens;
  readonly peakConcurrent: number;
}

/**
 * What became of the calls of a key, or of one model of it.
 * Always: received = admitted + all rejected, and admitted = completed + aborted + running.
 */
export class Tally {
  private received = 0;
  private admitted = 0;
  private completed = 0;
  private aborted = 0;
  private readonly rejected: Record<RefusalKind, number> = {
    requests: 0,
    tokens: 0,
    concurrency: 0,
    daily: 0,
    fault: 0,
  };
  private prompt: Tokens = 0;
  private completion: Tokens = 0;
  /** Kept as plain numbers, so that what has left the window can be forgotten. */
  readonly peak = { requests: 0, tokens: 0, concurrent: 0 };

  /** A call came, and was refused. */
  refuse(kind: RefusalKind): void {
    this.received += 1;
    this.rejected[kind] += 1;
  }

  /** A call came, and runs. */
  admit(): void {
    this.received += 1;
    this.admitted += 1;
    this.peak.concurrent = Math.max(this.peak.concurrent, this.running);
  }

  /** An answer was sent to its last byte. */
  complete(prompt: Tokens, completion: Tokens): void {
    this.completed += 1;
    this.prompt += prompt;
    this.completion += completion;
  }

  /** An answer ended before its last byte, whoever ended it. */
  abort(): void {
    this.aborted += 1;
  }

  /** Calls that hold a slot now. */
  get running(): number {
    return this.admitted - this.completed - this.aborted;
  }

  view(): TallyView {
    const { received, admitted, completed, aborted } = this;
    return {
      received,
      admitted,
      completed,
      aborted,
      rejected: { ...this.rejected },
      tokens: { prompt: this.prompt, completion: this.completion },
      peakRequests: this.peak.requests,
      peakTokens: this.peak.tokens,
      peakConcurrent: this.peak.concurrent,
    };
  }
}
