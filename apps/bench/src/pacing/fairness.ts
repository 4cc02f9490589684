import { TEAMS, type Job } from './traffic.js';

/**
 * Jain's index over what each team got of its fair share: the max-min share of what was served in all, so that who asks
 * for little and gets it counts as well served. 1: everybody got the same part of it; 1/n: one got all.
 */
export function jainOfFairShares(arrived: readonly Job[], amount: (job: Job) => number): number {
  const teams = TEAMS.map(([id]) => arrived.filter(({ team }) => team === id));
  const total = (jobs: readonly Job[]): number => jobs.reduce((sum, job) => sum + amount(job), 0);
  const got = teams.map((jobs) => total(jobs.filter(({ state }) => state === 'served')));
  const fair = maxMin(
    teams.map(total),
    got.reduce((sum, each) => sum + each, 0),
  );
  return jain(got.map((each, at) => each / (fair[at] ?? NaN)));
}

/** Shares out `supply`: nobody gets more than it asks for, and who gets less gets no less than anybody else. */
export function maxMin(demands: readonly number[], supply: number): readonly number[] {
  const shares = demands.map(() => 0);
  const byDemand = demands.map((demand, at) => ({ demand, at })).toSorted((a, b) => a.demand - b.demand);
  let left = supply;
  for (const [served, { demand, at }] of byDemand.entries()) {
    const share = Math.min(demand, left / (byDemand.length - served));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

/** Jain's index. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return (sum * sum) / (values.length * squares);
}
