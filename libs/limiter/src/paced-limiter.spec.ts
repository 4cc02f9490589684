import { seededRandom } from '@weir/kernel';
import { limiterContract } from '@weir/testing';
import { createLimiter } from './create-limiter.js';

limiterContract('PacedLimiter', ({ clock, ...setup }) =>
  createLimiter({ ...setup, clock, timers: clock, random: seededRandom(1), presumeSpent: false }),
);
