import { digestKey } from '@weir/config';
import { startSimulator, type RunningSimulator } from '../../simulator/src/simulator.module.js';
import { CollectorStandIn } from './harness/collector-stand-in.js';
import { contentOf } from './harness/chunks.js';
import { GatewayProcess } from './harness/gateway-process.js';
import { eventually } from './harness/house.js';
import { open, send, type Reply } from './harness/http-caller.js';
import { SimulatorControl } from './harness/simulator-control.js';

jest.setTimeout(120_000);

const MODEL = 'gpt-4o';
/** Words that may be found nowhere but where they belong. */
const MARKS = {
  prompt: 'PROMPT-MARK-7f3a',
  system: 'SYSTEM-MARK-91cc',
  tool: 'TOOL_MARK_5d20',
  user: 'USER-MARK-44aa',
  teamKey: 'team-key-MARK-e1b9',
  wrongKey: 'wrong-key-MARK-03d7',
  adminKey: 'admin-key-MARK-8c55',
  providerKey: 'provider-key-MARK-2e60',
  providerError: 'PROVIDER-ERROR-MARK-b7f1',
  modelName: 'MODEL-MARK-66d2',
  template: 'TEMPLATE MARK 0b',
  query: 'QUERY-MARK-f00d',
  idempotency: 'IDEMPOTENCY-MARK-77',
} as const;

describe('a run with marked prompts, keys and completions', () => {
  const collector = new CollectorStandIn();
  let simulator: RunningSimulator;
  let sim: SimulatorControl;
  let gateway: GatewayProcess;
  let url: string;
  let metrics: string;
  /** What the model said: it is a mark, too. */
  const completions: string[] = [];

  function chat(changes: object, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return send(`${url}/v1/chat/completions?key=${MARKS.query}`, {
      headers: chatHeaders(headers),
      body: body(changes),
    });
  }

  /** Leaves in the middle of a stream. */
  async function leave(): Promise<void> {
    await sim.faults({ times: 1, stallAtFrame: { frame: 4, ms: 60_000 } });
    const incoming = await open(`${url}/v1/chat/completions`, {
      headers: chatHeaders({}),
      body: body({ stream: true }),
    });
    for await (const _ of incoming) break;
    incoming.destroy();
  }

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 });
    sim = new SimulatorControl(simulator.url);
    await collector.start();
    gateway = new GatewayProcess(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WEIR_LOG_LEVEL: 'debug' },
      configuration(simulator.url),
    );
    url = await gateway.url();
    for (const stream of [true, false]) {
      const whole = await chat({ stream });
      completions.push(stream ? contentOf(whole.text) : textOf(whole));
      await everyFault(stream);
    }
    await leave();
    await everyRefusal();
    await send(`${url}/admin/v1/status`, { headers: { authorization: `Bearer ${MARKS.adminKey}` } });
    await eventually(
      () => send(`${url}/metrics`),
      ({ text }) => /weir_outcome="cancelled"\} 1$/m.test(text),
    );
    metrics = (await send(`${url}/metrics`)).text;
    gateway.kill('SIGTERM');
    await gateway.exited;
  });
  afterAll(async () => {
    await gateway.dispose();
    await collector.stop();
    await simulator.close();
  });

  /** Everything that a provider may answer wrongly, with a mark in whatever it says. */
  async function everyFault(stream: boolean): Promise<void> {
    const error = {
      error: { message: MARKS.providerError, type: MARKS.providerError, code: MARKS.providerError },
    };
    const faults = [
      { status: 500, body: error },
      { status: 429, body: error, headers: { 'retry-after-ms': '10' } },
      { status: 400, body: error },
      { status: 200, html: `<h1>${MARKS.providerError}</h1>` },
      { errorAtFrame: { frame: 1, body: error } },
      { errorAtFrame: { frame: 5, body: error } },
      { cutAtByte: 900 },
      { resetAfterHeaders: true },
    ];
    for (const fault of faults) {
      await sim.faults({ times: 1, ...fault });
      await chat({ stream }).catch(() => undefined);
    }
  }

  /** Everything that the gateway refuses for what it is. */
  async function everyRefusal(): Promise<void> {
    const statuses = [
      await chat({ messages: MARKS.prompt }),
      await chat({ model: MARKS.modelName }),
      await chat({}, { authorization: `Bearer ${MARKS.wrongKey}` }),
      await chat({}, { authorization: MARKS.wrongKey }),
      await chat({}, { 'x-prompt-template': MARKS.template }),
      await chat({ messages: [{ role: 'user', content: MARKS.prompt.repeat(2_000) }] }),
      await send(`${url}/v1/chat/completions`, {
        headers: chatHeaders({}),
        body: `{"messages": "${MARKS.prompt}`,
      }),
      await send(`${url}/v1/models/${MARKS.modelName}`, { headers: chatHeaders({}) }),
      await send(`${url}/v1/${MARKS.query}?${MARKS.query}`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 404, 401, 401, 400, 413, 400, 404, 404]);
  }

  const places: readonly (readonly [place: string, text: () => string, belongs: string])[] = [
    [
      'exported spans and metrics',
      () => Buffer.concat(collector.bodies).toString('latin1'),
      'weir.request.id',
    ],
    ['log lines', () => gateway.output, '"outcome":"rejected"'],
    ['/metrics', () => metrics, 'weir_requests_total'],
  ];

  it.each(places)('leaves none of the marks in %s', (_place, text, belongs) => {
    expect(text()).toContain(belongs);
    const said = completions.flatMap((completion) => completion.match(/.{24}/gs) ?? []);
    expect(said.length).toBeGreaterThan(4);
    const found = [...Object.values(MARKS), ...said].filter((mark) => text().includes(mark));
    expect(found).toEqual([]);
    expect(/MARK/.exec(text())?.[0]).toBeUndefined();
  });
});

function configuration(simulatorUrl: string): object {
  return {
    accounts: [
      { id: 'main', baseUrl: `${simulatorUrl}/v1`, apiKey: MARKS.providerKey, models: { [MODEL]: {} } },
    ],
    teams: [{ id: 'search', keys: [digestKey(MARKS.teamKey)] }],
    server: { adminKeys: [digestKey(MARKS.adminKey)], bodyLimitBytes: 20_000 },
    queue: { delaySpreadMs: 0 },
    retry: { budgetRatio: 1 },
  };
}

function chatHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${MARKS.teamKey}`,
    'content-type': 'application/json',
    'idempotency-key': MARKS.idempotency,
    ...headers,
  };
}

function body(changes: object): string {
  return JSON.stringify({
    model: MODEL,
    user: MARKS.user,
    messages: [
      { role: 'system', content: MARKS.system },
      { role: 'user', content: MARKS.prompt },
    ],
    tools: [{ type: 'function', function: { name: MARKS.tool, parameters: { type: 'object' } } }],
    tool_choice: 'none',
    ...changes,
  });
}

function textOf({ json }: Reply): string {
  return (json as { choices: readonly { message: { content: string } }[] }).choices[0]?.message.content ?? '';
}
