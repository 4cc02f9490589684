import { Roster, type CallIdentity, type Milliseconds, type Stay } from '@weir/kernel';

/** Requests of one model and priority. */
export interface Occupancy {
  readonly model: string;
  readonly priority: string;
  readonly count: number;
  /** Monotonic arrival of the one that came first; undefined where nobody is there. */
  readonly oldestSince: Milliseconds | undefined;
}

/** Since when each request is inside, by model and priority: O(1) to come and go. */
export class WaitingRoom {
  private readonly stays = new Map<string, Map<string, Roster<Milliseconds>>>();

  /** @returns to leave by */
  enter(model: string, { priority }: CallIdentity, since: Milliseconds): Stay<Milliseconds> {
    return this.room(model, priority).enter(since);
  }

  *occupancy(): Generator<Occupancy> {
    for (const [model, byPriority] of this.stays) {
      for (const [priority, room] of byPriority) {
        yield { model, priority, count: room.size, oldestSince: room.oldest };
      }
    }
  }

  private room(model: string, priority: string): Roster<Milliseconds> {
    return this.stays.get(model)?.get(priority) ?? this.newRoom(model, priority);
  }

  private newRoom(model: string, priority: string): Roster<Milliseconds> {
    const byPriority = this.stays.get(model) ?? new Map<string, Roster<Milliseconds>>();
    this.stays.set(model, byPriority);
    const room = new Roster<Milliseconds>();
    byPriority.set(priority, room);
    return room;
  }
}
