import Bottleneck from 'bottleneck';
import { TokenBucket } from 'limiter';
import PQueue from 'p-queue';
import pThrottle from 'p-throttle';
import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible';
import { ConditionBucket } from '../seeds/condition-bucket.js';
import type { Contender } from './contender.js';
import { weirContender } from './weir.js';

/** Makes a contender that allows `perSecond`, evenly where it can. */
type Make = (perSecond: number) => Contender;

const nothing = (): Promise<void> => Promise.resolve();

/** Everybody in the form in which its documentation would have it, tuned for even pacing where there is a choice. */
export const CONTENDERS = {
  'Weir, 6 dimensions': (perSecond) => weirContender(perSecond, 'none'),
  'Weir, an AbortSignal each': (perSecond) => weirContender(perSecond, 'each'),
  bottleneck: (perSecond) => {
    const limiter = new Bottleneck({ minTime: 1000 / perSecond });
    return { acquire: () => limiter.schedule(() => Promise.resolve()) };
  },
  'limiter TokenBucket': (perSecond) => {
    const bucket = new TokenBucket({
      bucketSize: perSecond,
      tokensPerInterval: perSecond,
      interval: 'second',
    });
    if (perSecond < UNLIMITED) bucket.content = 0;
    else bucket.content = perSecond;
    return { acquire: () => bucket.removeTokens(1) };
  },
  'rate-limiter-flexible': (perSecond) => {
    const queue = new RateLimiterQueue(new RateLimiterMemory({ points: perSecond, duration: 1 }));
    return { acquire: () => queue.removeTokens(1) };
  },
  'p-queue': (perSecond) => {
    const queue = new PQueue({ intervalCap: perSecond / 10, interval: 100 });
    return { acquire: () => queue.add(nothing) };
  },
  'p-throttle': (perSecond) => {
    const throttled = pThrottle({ limit: 1, interval: 1000 / perSecond })(nothing);
    const free = pThrottle({ limit: perSecond, interval: 1000 })(nothing);
    const act = perSecond < UNLIMITED ? throttled : free;
    return { acquire: () => act() };
  },
  "seeds' bucket": (perSecond) => {
    const bucket = new ConditionBucket(perSecond < UNLIMITED ? 8 : perSecond, perSecond);
    return { acquire: () => bucket.acquire() };
  },
} satisfies Record<string, Make>;

/** Whom a cell is about. */
export type ContenderName = keyof typeof CONTENDERS;

/** A rate that is never reached. */
export const UNLIMITED = 1e9;
