import type { Flow, Team } from './queue/flow.js';

/** A team, and how many of its requests have no permit yet. */
export interface Member extends Team {
  depth: number;
  /** Where it asked last: most teams ask there again. */
  recent: Flow | undefined;
}

/** A request that may be counted. */
export interface Countable {
  readonly member: Member;
  counted: boolean;
}

/** Who shares the accounts, by weight. A team that was not declared has weight 1. */
export class Teams {
  /** Requests without a permit, of all teams. */
  depth = 0;
  private readonly byId = new Map<string, Member>();

  constructor(declared: readonly Team[]) {
    for (const { id, weight } of declared) this.byId.set(id, { id, weight, depth: 0, recent: undefined });
  }

  of(id: string): Member {
    let member = this.byId.get(id);
    if (member === undefined) {
      member = { id, weight: 1, depth: 0, recent: undefined };
      this.byId.set(id, member);
    }
    return member;
  }

  /** A request begins to be without a permit. */
  count(turn: Countable): void {
    if (turn.counted) return;
    turn.counted = true;
    turn.member.depth += 1;
    this.depth += 1;
  }

  /** It has one, or does not want one any more. */
  uncount(turn: Countable): void {
    if (!turn.counted) return;
    turn.counted = false;
    turn.member.depth -= 1;
    this.depth -= 1;
  }
}
