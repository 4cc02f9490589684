import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FakeClock } from '@weir/testing';
import type { CountRequest } from '../token-counter.js';
import { WorkerTokenCounter, type CountTrouble } from './worker-token-counter.js';

const BROKEN = join(__dirname, 'testing/broken-worker.mjs');
const PATIENT_MS = 60_000;

/** A real thread; only the time in which it gives up is virtual. */
class Bench {
  readonly clock = new FakeClock(1_000);
  readonly troubles: CountTrouble[] = [];
  readonly counter: WorkerTokenCounter;
  readonly caller = new AbortController();

  constructor(program?: string) {
    this.counter = new WorkerTokenCounter({
      time: this.clock,
      onTrouble: (trouble) => this.troubles.push(trouble),
      ...(program === undefined ? {} : { program }),
    });
  }

  count(text: string | readonly string[], changes: Partial<CountRequest> = {}): Promise<number | undefined> {
    const texts = typeof text === 'string' ? [text] : text;
    const request: CountRequest = { texts, encoding: 'o200k_base', withinMs: PATIENT_MS, ...changes };
    return this.counter.count(request, this.caller.signal);
  }
}

let bench: Bench;
afterEach(() => bench.counter.close());

describe('WorkerTokenCounter', () => {
  // What OpenAI's cookbook prints for tiktoken ("How to count tokens with tiktoken", read 2026-11).
  it.each([
    ['antidisestablishmentarianism', 6, 6],
    ['2 + 2 = 4', 7, 7],
    ['お誕生日おめでとう', 8, 9],
  ])('counts %s as tiktoken does', async (text, o200k, cl100k) => {
    bench = new Bench();
    expect(await bench.count(text)).toBe(o200k);
    expect(await bench.count(text, { encoding: 'cl100k_base' })).toBe(cl100k);
    expect(await bench.count([text, text, ''])).toBe(2 * o200k);
    expect(bench.troubles).toEqual([]);
  });

  it('counts a special token that a caller wrote as the text that it is', async () => {
    bench = new Bench();
    expect(await bench.count('<|endoftext|>')).toBe(7);
  });

  it('counts the largest body that there may be within its memory', async () => {
    bench = new Bench();
    expect(await bench.count('one two three four\n'.repeat(550_000))).toBe(2_750_000);
    expect(bench.troubles).toEqual([]);
  });

  it('has a thread from the first count until it had nothing to do for a minute, and then again', async () => {
    bench = new Bench();
    const { counter, clock } = bench;
    expect(counter.started).toBe(false);
    expect(await bench.count('hello world')).toBe(2);
    await clock.advance(59_000);
    expect(counter.started).toBe(true);
    await clock.advance(1_000);
    expect(counter.started).toBe(false);
    expect(await bench.count('hello world')).toBe(2);
    expect(clock.armed).toBe(1);
  });

  it('answers in turn, however many ask at once', async () => {
    bench = new Bench();
    const texts = ['hello world', '2 + 2 = 4', 'antidisestablishmentarianism'];
    expect(await Promise.all(texts.map((text) => bench.count(text)))).toEqual([2, 7, 6]);
  });

  it('lets a caller go whose patience has ended, and goes on counting for the next', async () => {
    bench = new Bench();
    const impatient = bench.count('hello world', { withinMs: 100 });
    const patient = bench.count('2 + 2 = 4');
    await bench.clock.advance(100);
    expect(await impatient).toBeUndefined();
    expect(await patient).toBe(7);
    expect(bench.troubles).toEqual([]);
  });

  it('lets a caller go that leaves, whether its count has begun or not, and keeps no timer for it', async () => {
    bench = new Bench();
    const [begun, waiting] = [bench.count('hello world'), bench.count('hello')];
    const reason = new Error('left');
    bench.caller.abort(reason);
    await expect(begun).rejects.toBe(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(bench.count('late')).rejects.toBe(reason);
    // That of the count that has begun.
    expect(bench.clock.armed).toBe(1);
    const other = bench.counter.count(
      { texts: ['2 + 2 = 4'], encoding: 'o200k_base', withinMs: PATIENT_MS },
      new AbortController().signal,
    );
    expect(await other).toBe(7);
  });

  it('ends a count that takes too long, tells everybody nothing, and rests before it tries again', async () => {
    bench = new Bench();
    const { counter, clock } = bench;
    // One word of a million letters: the square of that.
    const hostile = bench.count('a'.repeat(1_000_000));
    const behind = bench.count('hello world');
    await clock.advance(6_000);
    expect([await hostile, await behind]).toEqual([undefined, undefined]);
    expect(counter.started).toBe(false);
    await clock.advance(29_000);
    expect(await bench.count('hello world')).toBeUndefined();
    expect(counter.started).toBe(false);
    expect(clock.armed).toBe(0);
    await clock.advance(1_000);
    expect(await bench.count('hello world')).toBe(2);
    expect(bench.troubles).toEqual(['too_slow']);
  });

  it.each(['throw', 'exit'])('outlives a thread that does %s', async (deed) => {
    bench = new Bench(BROKEN);
    expect(await bench.count('answer')).toBe(1);
    expect(await Promise.all([bench.count(deed), bench.count('answer')])).toEqual([undefined, undefined]);
    expect(bench.troubles).toEqual(['worker_failed']);
    await bench.clock.advance(30_000);
    expect(await bench.count('answer')).toBe(1);
  });

  it('outlives a program that is not there', async () => {
    bench = new Bench(join(__dirname, 'nowhere.mjs'));
    expect(await bench.count('hello')).toBeUndefined();
    expect(bench.troubles).toEqual(['worker_failed']);
  });

  it('outlives that no thread can be made', async () => {
    // A relative path is refused at once, as too many threads are.
    bench = new Bench('nowhere.mjs');
    expect(await bench.count('hello')).toBeUndefined();
    expect(bench.troubles).toEqual(['worker_failed']);
  });

  it('takes as many as may wait, and says once that there were more', async () => {
    bench = new Bench(BROKEN);
    const [stuck, ...waiting] = Array.from({ length: 9 }, () => bench.count('silence'));
    expect(await Promise.all([bench.count('answer'), bench.count('answer')])).toEqual([undefined, undefined]);
    expect(bench.troubles).toEqual(['queue_full']);
    await bench.counter.close();
    expect(await Promise.all([stuck, ...waiting])).toEqual(Array.from({ length: 9 }));
  });

  it('gives a place free when its caller leaves', async () => {
    bench = new Bench(BROKEN);
    const stuck = bench.count('silence');
    const short = Array.from({ length: 8 }, () => bench.count('silence', { withinMs: 10 }));
    await bench.clock.advance(10);
    await Promise.all(short);
    const waiting = bench.count('answer');
    expect(bench.troubles).toEqual([]);
    await bench.counter.close();
    expect([await stuck, await waiting]).toEqual([undefined, undefined]);
  });

  it('counts nothing more once it is closed', async () => {
    bench = new Bench();
    const last = bench.count('hello world');
    await bench.counter.close();
    expect([await last, await bench.count('hello')]).toEqual([undefined, undefined]);
    expect(bench.counter.started).toBe(false);
    expect(bench.clock.armed).toBe(0);
  });

  it('shows its thread nothing of the environment', async () => {
    bench = new Bench(BROKEN);
    expect(await bench.count('environment')).toBe(0);
  });
});

it('does not hold its process', async () => {
  bench = new Bench();
  const program = `
    const { WorkerTokenCounter } = require('./libs/limiter/src/estimate/exact/worker-token-counter.ts');
    const time = { now: () => 0, after: () => ({ cancel() {} }) };
    const counter = new WorkerTokenCounter({ time, onTrouble: console.error });
    const request = { texts: ['hello world'], encoding: 'o200k_base', withinMs: 1 };
    const held = setInterval(() => {}, 1000);
    void counter.count(request, new AbortController().signal).then((tokens) => {
      console.log(tokens);
      clearInterval(held);
    });`;
  const options = ['--import', 'tsx', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, options, {
    cwd: process.cwd(),
    timeout: 20_000,
  });
  expect(stdout).toBe('2\n');
});
