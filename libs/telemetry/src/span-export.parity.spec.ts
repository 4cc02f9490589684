import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { seededRandom, systemTimers } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import { readTraceRequest, type Read } from '../test/otlp-reading.js';
import { OtlpSink, type Posted } from '../test/otlp-sink.js';
import { MetricRegistry } from './metric-registry.js';
import { openExport } from './otlp-export.js';
import type { RecordedSpan } from './recorded-span.js';
import { SpanRecorder } from './span-recorder.js';

/**
 * The judge is the SDK, set up by `NodeSDK` with its own OTLP exporter (docs/decisions/0006). What ours leaves out on
 * purpose is in no span here: events, messages of a status, `tracestate`, and values that our attributes never have
 * (whole numbers below zero or above 2^53, maps, bytes).
 */
const RESOURCE = resourceFromAttributes({
  'service.name': 'weir',
  'service.version': '1.2.3',
  'service.instance.id': 'häuschen:1',
});
const SCOPE = { name: 'weir' };
const EPOCH_OFFSET = 1_795_000_000_000.25;
const REMOTE = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  traceFlags: 1,
  isRemote: true,
};

/** A span in words; above and linked are names of spans before it. */
interface Sketch {
  readonly name: string;
  readonly kind: SpanKind;
  readonly above?: string;
  readonly linked?: string;
  /** What it starts with, and what is set later. */
  readonly first: Attributes;
  readonly later: Attributes;
  readonly hasFailed: boolean;
  /** Milliseconds on the monotonic clock. */
  readonly at: readonly [number, number];
}

const PLAIN = { kind: SpanKind.INTERNAL, first: {}, later: {}, hasFailed: false };

const SKETCHES: readonly Sketch[] = [
  {
    ...{ name: 'POST /v1/chat/completions', kind: SpanKind.SERVER, above: 'remote', hasFailed: true },
    first: { text: 'a', empty: '', wide: 'Brücke 🌉', long: 'x'.repeat(20_000) },
    later: { 'error.type': 'upstream_rate_limited', text: 'the last one counts' },
    at: [0, 1234.567891],
  },
  {
    ...{ ...PLAIN, name: 'weir.queue.wait', above: 'POST /v1/chat/completions' },
    first: { zero: 0, one: 1, byte: 128, word: 2 ** 31, long: 2 ** 53 - 1 },
    later: { half: 0.5, below: -0.25, tiny: 5e-324, huge: 1.5e300, endless: Infinity },
    at: [0.000001, 1000],
  },
  {
    ...{ ...PLAIN, name: 'chat m', kind: SpanKind.CLIENT, above: 'weir.queue.wait', hasFailed: true },
    first: { yes: true, no: false },
    later: { texts: ['a', '', 'ü'], numbers: [1, 2.5, 300], flags: [true, false], none: [] },
    at: [999.999999, 999.999999],
  },
  { ...PLAIN, name: 'weir.refund', above: 'chat m', linked: 'weir.queue.wait', at: [5, 86_400_000] },
  { ...PLAIN, name: 'another trace', kind: SpanKind.SERVER, linked: 'weir.refund', at: [7, 8.5] },
  { ...PLAIN, name: 'linked to a root', above: 'another trace', linked: 'another trace', at: [7, 8] },
  { ...PLAIN, name: '', kind: SpanKind.PRODUCER, above: 'another trace', at: [7, 9] },
  { ...PLAIN, name: 'ßpan', kind: SpanKind.CONSUMER, above: 'another trace', at: [7, 1e9] },
];

async function throughOurs(endpoint: string, sketches: readonly Sketch[]): Promise<void> {
  const clock = new FakeClock(0, EPOCH_OFFSET);
  const way = openExport({
    ...{ endpoint, resource: RESOURCE, scope: SCOPE, logger: undefined, exportTimeoutMs: undefined },
    registry: new MetricRegistry(clock, RESOURCE, SCOPE),
    time: { now: () => clock.now(), epochNow: () => clock.epochNow(), after: systemTimers.after },
  });
  const recorder = new SpanRecorder({ clock, random: seededRandom(9), sinks: way.sinks, exportRatio: 1 });
  const spans = new Map<string, RecordedSpan>();
  for (const { name, kind, above = '', linked = '', first, later, hasFailed, at } of sketches) {
    const parent = above === 'remote' ? REMOTE : spans.get(above);
    const span = recorder.start(name, { parent, kind, link: spans.get(linked), at: at[0], shared: first });
    for (const [key, value] of Object.entries(later)) span.set(key, value);
    if (hasFailed) span.markError();
    spans.set(name, span);
  }
  for (const { name, at } of sketches) spans.get(name)?.endAt(at[1]);
  await way.shutdown(undefined);
}

async function throughSdk(endpoint: string, sketches: readonly Sketch[]): Promise<void> {
  const sdk = new NodeSDK({
    ...{ resource: RESOURCE, autoDetectResources: false, metricReaders: [], logRecordProcessors: [] },
    traceExporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }),
  });
  sdk.start();
  const tracer = trace.getTracer(SCOPE.name);
  const spans = new Map<string, Span>();
  for (const { name, kind, above, linked = '', first, later, hasFailed, at } of sketches) {
    const link = spans.get(linked);
    const span = tracer.startSpan(
      name,
      {
        ...{ kind, attributes: first, startTime: EPOCH_OFFSET + at[0] },
        links: link === undefined ? [] : [{ context: link.spanContext() }],
      },
      below(above === 'remote' ? trace.wrapSpanContext(REMOTE) : spans.get(above ?? '')),
    );
    span.setAttributes(later);
    if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
    spans.set(name, span);
  }
  for (const { name, at } of sketches) spans.get(name)?.end(EPOCH_OFFSET + at[1]);
  await sdk.shutdown();
  trace.disable();
  context.disable();
}

function below(span: Span | undefined): Context {
  return span === undefined ? context.active() : trace.setSpan(context.active(), span);
}

function read({ body, ...head }: Posted): unknown {
  return { ...head, body: comparable(readTraceRequest(body)) };
}

function spansIn({ body }: Posted): number {
  return inner(readTraceRequest(body), 'resourceSpans', 'scopeSpans', 'span').length;
}

/** With ids by the order in which spans ended, and attributes by name: neither order nor randomness is compared. */
function comparable(request: Read): Read {
  const spans = inner(request, 'resourceSpans', 'scopeSpans', 'span');
  const names = new Map<unknown, string>();
  for (const [at, { traceId, spanId }] of spans.entries()) {
    if (traceId?.[0] !== REMOTE.traceId && !names.has(traceId?.[0])) names.set(traceId?.[0], `trace ${at}`);
    names.set(spanId?.[0], `span ${at}`);
  }
  const rename = (value: Read[string][number]): Read[string][number] =>
    typeof value === 'object' ? mapped(value) : (names.get(value) ?? value);
  const mapped = (message: Read): Read =>
    Object.fromEntries(
      Object.entries(message).map(([field, values]) => [
        field,
        field === 'attribute' ? [...values].sort(byKey) : values.map(rename),
      ]),
    );
  return mapped(request);
}

function inner(message: Read, ...path: readonly string[]): readonly Read[] {
  return path.reduce<readonly Read[]>(
    (all, field) =>
      all.flatMap((one) => one[field] ?? []).filter((value): value is Read => typeof value === 'object'),
    [message],
  );
}

function byKey(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

describe('exported spans, with the SDK as the judge', () => {
  const sink = new OtlpSink();

  beforeAll(() => sink.start());
  afterAll(() => sink.stop());

  it('are the same in every field', async () => {
    await throughSdk(sink.url, SKETCHES);
    const judged = sink.takeTraces();
    await throughOurs(sink.url, SKETCHES);
    const ours = sink.takeTraces();

    expect(judged.map(spansIn)).toEqual([SKETCHES.length]);
    expect(ours.map(read)).toEqual(judged.map(read));
  });
});
