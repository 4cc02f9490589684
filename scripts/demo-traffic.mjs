/**
 * Traffic to look at: three teams, three models, some templates, streams and plain answers, callers who leave, and a provider
 * that now and then refuses. For the stack of docker-compose.yml (profile `load`) and its weir.yaml; ends by itself.
 *
 *   WEIR_URL, SIMULATOR_URL   where; loopback by default
 *   LOAD_MINUTES              how long; 60 by default
 *   LOAD_RPS                  requests a second; 6 by default
 *   LOAD_THROTTLED            share of calls that the simulator answers with 429, 0 to 1; 0.02 by default
 */
import { setTimeout as sleep } from 'node:timers/promises';

const {
  WEIR_URL = 'http://127.0.0.1:8080',
  SIMULATOR_URL = 'http://127.0.0.1:9400',
  LOAD_MINUTES = '60',
  LOAD_RPS = '6',
  LOAD_THROTTLED = '0.02',
} = process.env;

const TEAMS = [
  { team: 'search', templates: ['faq', 'summary', undefined], priority: 'high' },
  { team: 'support', templates: ['triage', 'reply'], priority: 'normal' },
  { team: 'batch', templates: ['label'], priority: 'low' },
];
const MODELS = ['gemini-2.5-flash', 'gemini-2.5-flash', 'gpt-4o-mini', 'gemini-2.5-pro'];
const rps = Number(LOAD_RPS);
const THROTTLED = Number(LOAD_THROTTLED);
const counts = {};

const of = (list, at) => list[at % list.length];
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);

/** One request; every field follows from its number, so that two runs are alike. */
async function ask(number) {
  const { team, templates, priority } = of(TEAMS, number);
  const template = of(templates, Math.floor(number / 3));
  const leaves = number % 41 === 40;
  const answer = await fetch(`${WEIR_URL}/v1/chat/completions`, {
    method: 'POST',
    signal: AbortSignal.timeout(leaves ? 120 : 90_000),
    headers: {
      authorization: `Bearer demo-${team}`,
      'content-type': 'application/json',
      'x-weir-priority': priority,
      ...(template === undefined ? {} : { 'x-prompt-template': template }),
    },
    body: JSON.stringify({
      model: of(MODELS, Math.floor(number / 2)),
      stream: number % 10 < 7,
      max_tokens: 40 + (number % 5) * 40,
      messages: [{ role: 'user', content: `Question ${number}: what does a weir do?` }],
    }),
  });
  await answer.text();
  count(answer.status);
}

/** Faults are taken by the calls that come next. */
async function refuse(times, status) {
  if (times === 0) return;
  const headers = { 'retry-after-ms': '300' };
  const faults = [
    { times, status, headers, body: { error: { message: 'demo', code: 'rate_limit_exceeded' } } },
  ];
  await fetch(`${SIMULATOR_URL}/_sim/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ faults }),
  });
}

/** Slow enough that a stream can be left in its middle. */
async function prepare() {
  await fetch(`${SIMULATOR_URL}/_sim/behaviour`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ firstTokenMs: 60, tokensPerSecond: 400 }),
  });
}

async function run(seconds) {
  await prepare();
  const running = new Set();
  let refused = 0;
  for (let second = 0; second < seconds; second++) {
    // For what was answered, not for what was asked: callers who wait make no calls.
    const due = Math.floor(((counts[200] ?? 0) * THROTTLED) / (1 - THROTTLED)) - refused;
    refused += due;
    await refuse(due, 429);
    await refuse(second % 60 === 30 ? 2 : 0, 503);
    for (let at = 0; at < rps; at++) {
      const request = ask(second * rps + at)
        .catch((failure) => count(failure.name))
        .finally(() => running.delete(request));
      running.add(request);
      await sleep(1000 / rps);
    }
    if (second % 60 === 59) console.log(JSON.stringify(counts));
  }
  await Promise.all(running);
  console.log(JSON.stringify(counts));
}

await run(Number(LOAD_MINUTES) * 60);
