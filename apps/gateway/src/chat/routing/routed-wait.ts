import { linkAbort, type LinkedAbort, type Milliseconds, type Stay, type Target } from '@weir/kernel';
import type { Permit } from '@weir/limiter';
import type { Course } from './course.js';

/** How many wait for a target, in all lines. */
export interface Count {
  waiting: number;
}

/** Where a wait stands. */
export interface Place {
  readonly stay: Stay<RoutedWait>;
  readonly count: Count;
  readonly movable: 0 | 1;
}

/** Who gives waits their places. */
export interface WaitBoard {
  joined(wait: RoutedWait): Place;
  left(wait: RoutedWait, place: Place): void;
}

/** Why the limiter sees a wait end that goes on elsewhere. */
const MOVED = new Error('The request waits for another target now.');

/**
 * A wait for one permit that may move from the queue of one target to that of another. The turn keeps its age, so it
 * stands in the new queue as if it had come there first.
 */
export class RoutedWait {
  readonly promise: Promise<Permit>;
  /** It is not called away before then. */
  staysUntil: Milliseconds = -Infinity;
  /** How often it was moved. */
  moves = 0;
  private link: LinkedAbort;
  private place: Place | undefined;
  private readonly settle: {
    readonly resolve: (permit: Permit) => void;
    readonly reject: (reason: unknown) => void;
  };

  constructor(
    readonly course: Course,
    public target: Target,
    private readonly signal: AbortSignal,
    private readonly board: WaitBoard,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    this.promise = promise;
    this.settle = { resolve, reject };
    this.link = this.begin();
  }

  /** Leaves the queue of its target for that of another. */
  move(target: Target): void {
    this.leave();
    this.link.abort(MOVED);
    this.target = target;
    this.moves += 1;
    this.link = this.begin();
  }

  /** Gives up: nobody can serve it. */
  refuse(reason: Error): void {
    this.link.abort(reason);
  }

  private begin(): LinkedAbort {
    const { course, target } = this;
    const link = linkAbort(this.signal);
    const isOver = (): boolean => {
      link.unlink();
      if (this.link !== link) return true;
      this.leave();
      return false;
    };
    this.place = this.board.joined(this);
    course.turn.acquire({ target, cost: course.call.cost }, link.signal).then(
      (permit) => {
        // It was moved in the instant in which it was granted: nothing was sent, so everything comes back.
        if (isOver()) permit.cancel();
        else this.settle.resolve(permit);
      },
      (reason: unknown) => {
        if (!isOver()) this.settle.reject(reason);
      },
    );
    return link;
  }

  private leave(): void {
    const { place } = this;
    this.place = undefined;
    if (place !== undefined) this.board.left(this, place);
  }
}
