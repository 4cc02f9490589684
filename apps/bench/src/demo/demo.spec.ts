import { startService, type Service } from '../processes.js';
import { judge, runWeir } from './demo.js';
import { disorders, type Outcome } from './outcome.js';
import { CONVERSATIONS, IN_CONVERSATIONS, questions, REQUESTS, shares, WORKERS } from './workload.js';

describe('the demo of the first article', () => {
  let simulator: Service;

  beforeAll(async () => {
    simulator = await startService('simulator', { SIMULATOR_PORT: '0' });
  }, 60_000);
  afterAll(() => simulator.stop());

  it('holds for Weir: all served, at most one 429, never over the quota, in order, every text whole', async () => {
    const run = await runWeir(simulator.url);
    const failing = judge(run).filter(({ holds }) => !holds);
    expect(failing).toEqual([]);
    expect(run.outcomes).toHaveLength(REQUESTS);
    expect(run.ledger.total).toMatchObject({ completed: REQUESTS, aborted: 0 });
  }, 120_000);
});

describe('the workload', () => {
  it('is 100 questions, 30 of them in 5 conversations', () => {
    const talking = questions().flatMap(({ conversation }) => conversation ?? []);
    expect(questions()).toHaveLength(REQUESTS);
    expect(talking).toHaveLength(IN_CONVERSATIONS);
    expect(new Set(talking).size).toBe(CONVERSATIONS);
  });

  it('is shared out so that a conversation has one process and everybody has work', () => {
    const piles = shares(questions(), WORKERS);
    expect(piles.flat().map(({ index }) => index)).toHaveLength(REQUESTS);
    expect(Math.min(...piles.map((pile) => pile.length))).toBeGreaterThanOrEqual(6);
    const homes = piles.map((pile) => new Set(pile.flatMap(({ conversation }) => conversation ?? [])));
    expect(homes.reduce((sum, home) => sum + home.size, 0)).toBe(CONVERSATIONS);
  });
});

describe('the order of a conversation', () => {
  const outcome = (index: number, firstByteAt: number, endedAt: number): Outcome => ({
    question: { index, model: 'm', prompt: 'p', conversation: 'c' },
    askedAt: 0,
    result: { status: 200, sentAt: 0, firstByteAt, endedAt, whole: true, sha256: '', headers: {} },
  });

  it('is kept where each answer begins after the one before it ended, whoever reported first', () => {
    expect(disorders([outcome(5, 30, 40), outcome(0, 10, 20)])).toEqual([]);
  });

  it('is broken where two answers overlap or one is missing', () => {
    expect(disorders([outcome(0, 10, 20), outcome(5, 19, 40)])).toEqual(['c']);
    expect(disorders([{ question: outcome(0, 0, 0).question, askedAt: 0 }, outcome(5, 19, 40)])).toEqual([
      'c',
    ]);
  });
});
