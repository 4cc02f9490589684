import type { CallIdentity, Milliseconds } from '@weir/kernel';

/** One waiting or running request. */
interface Stay {
  readonly since: Milliseconds;
}

/** Requests of one model and priority. */
export interface Occupancy {
  readonly model: string;
  readonly priority: string;
  readonly count: number;
  /** Monotonic arrival of the one that came first; undefined where nobody is there. */
  readonly oldestSince: Milliseconds | undefined;
}

/** Who is inside, by model and priority: O(1) to come and go; the oldest is the first in insertion order. */
export class WaitingRoom {
  private readonly stays = new Map<string, Map<string, Set<Stay>>>();

  /** @returns leaves again; idempotent */
  enter(model: string, { priority }: CallIdentity, since: Milliseconds): () => void {
    const room = this.room(model, priority);
    const stay: Stay = { since };
    room.add(stay);
    return () => {
      room.delete(stay);
    };
  }

  *occupancy(): Generator<Occupancy> {
    for (const [model, byPriority] of this.stays) {
      for (const [priority, room] of byPriority) {
        const [oldest] = room;
        yield { model, priority, count: room.size, oldestSince: oldest?.since };
      }
    }
  }

  private room(model: string, priority: string): Set<Stay> {
    const byPriority = this.stays.get(model) ?? new Map<string, Set<Stay>>();
    this.stays.set(model, byPriority);
    const room = byPriority.get(priority) ?? new Set<Stay>();
    byPriority.set(priority, room);
    return room;
  }
}
