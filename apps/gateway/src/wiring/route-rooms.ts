import type { GatewayConfig } from '@weir/config';
import type { LargestCost, RouteRoom } from '@weir/limiter';
import { largestCost } from './largest-cost.js';

/**
 * What one request of a team may cost on the ways of a route, as the file says. Asked for each request, so each answer is
 * kept until the next reload; there are as many as teams times routes.
 */
export class RouteRooms {
  private config: GatewayConfig | undefined;
  private rooms = new Map<string, Map<string, RouteRoom>>();

  constructor(private readonly live: { readonly current: GatewayConfig }) {}

  /** @param model a name that a route has */
  of(team: string, model: string): RouteRoom {
    const { current } = this.live;
    if (current !== this.config) {
      this.config = current;
      this.rooms = new Map();
    }
    const known = this.rooms.get(team)?.get(model);
    return known ?? this.measured(team, model);
  }

  private measured(team: string, model: string): RouteRoom {
    const { targets = [], fallback = [] } = this.live.current.routes[model] ?? {};
    const each = [...targets, ...fallback].map((target) => largestCost(this.live.current, team, target));
    const least = (unit: keyof LargestCost): number => Math.min(Infinity, ...each.map((one) => one[unit]));
    const all = {
      tokens: least('tokens'),
      inputTokens: least('inputTokens'),
      outputTokens: least('outputTokens'),
    };
    const room = { first: each[0] ?? all, least: all, each };
    const rooms = this.rooms.get(team) ?? new Map<string, RouteRoom>();
    this.rooms.set(team, rooms.set(model, room));
    return room;
  }
}
