import { SpanKind } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { seededRandom } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import fc from 'fast-check';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ReadableRecord } from '../test/readable-record.js';
import { PackedSpans } from './packed-spans.js';
import type { RecordedSpan } from './recorded-span.js';
import { SpanRecorder } from './span-recorder.js';

const RESOURCE = resourceFromAttributes({ 'service.name': 'weir', 'service.instance.id': 'häuschen:1' });
const SCOPE = { name: 'weir' };
const REMOTE = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', traceFlags: 1 };

/** What the SDK's exporter sends to a collector. */
class SdkBytes {
  private server: Server | undefined;
  private exporter: OTLPTraceExporter | undefined;
  private body = Buffer.alloc(0);

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        this.body = Buffer.concat(pieces);
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.server = server;
    this.exporter = new OTLPTraceExporter({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    });
  }

  async of(spans: readonly RecordedSpan[]): Promise<Buffer> {
    const readable = spans.map((span) => new ReadableRecord(span, RESOURCE, SCOPE));
    await new Promise((resolve) => this.exporter?.export(readable, resolve));
    return this.body;
  }

  async stop(): Promise<void> {
    await this.exporter?.shutdown();
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

function packed(spans: readonly RecordedSpan[]): Buffer {
  const all = new PackedSpans(RESOURCE, SCOPE);
  for (const span of spans) all.add(span);
  expect(all.count).toBe(spans.length);
  const batch = all.take();
  expect([batch.spans, all.count]).toEqual([spans.length, 0]);
  return Buffer.from(batch.bytes);
}

const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 300 }));
const number = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.double({ noNaN: true, noInteger: true }));
const attributes = fc.dictionary(
  fc.stringMatching(/^[a-z._]{1,40}$/),
  fc.oneof(text, number, fc.boolean(), fc.array(text, { maxLength: 3 })),
  { maxKeys: 20, noNullPrototype: true },
);
const sketch = fc.record({
  name: text,
  kind: fc.constantFrom(SpanKind.INTERNAL, SpanKind.SERVER, SpanKind.CLIENT),
  isBelowRemote: fc.boolean(),
  isLinked: fc.boolean(),
  hasFailed: fc.boolean(),
  startedAt: fc.double({ min: 0, max: 1e10, noNaN: true }),
  length: fc.double({ min: 0, max: 1e7, noNaN: true }),
  shared: attributes,
  own: attributes,
});

describe('PackedSpans', () => {
  const sdk = new SdkBytes();
  const recorder = new SpanRecorder({
    clock: new FakeClock(0, 1_795_000_000_000.25),
    random: seededRandom(5),
    sinks: [],
    exportRatio: 1,
  });

  beforeAll(() => sdk.start());
  afterAll(() => sdk.stop());

  it('are byte for byte what the SDK would send', async () => {
    const property = fc.asyncProperty(fc.array(sketch, { minLength: 1, maxLength: 8 }), async (sketches) => {
      let above: RecordedSpan | undefined;
      const spans = sketches.map(({ name, kind, startedAt, ...some }) => {
        const parent = some.isBelowRemote ? { ...REMOTE, isRemote: true } : above;
        const link = some.isLinked ? above : undefined;
        const span = recorder.start(name, { parent, kind, link, at: startedAt, shared: some.shared });
        // The SDK has one object of attributes, in which what is set again keeps its old place.
        for (const [key, value] of Object.entries(some.own)) if (!(key in some.shared)) span.set(key, value);
        if (some.hasFailed) span.markError();
        span.endAt(startedAt + some.length);
        above = span;
        return span;
      });
      expect(packed(spans).equals(await sdk.of(spans))).toBe(true);
    });
    await fc.assert(property, { numRuns: 100, seed: 2 });
  });

  it('are the same for thousands at once', async () => {
    const parent = recorder.start('root', { parent: undefined });
    const spans = Array.from({ length: 4_096 }, (_, number) =>
      recorder
        .start('one', { parent, at: number })
        .set('number', number)
        .set('text', 'x'.repeat(number % 400)),
    );
    for (const span of spans) span.end();
    expect(packed(spans).equals(await sdk.of(spans))).toBe(true);
  });

  it('stay whole where one cannot be told', () => {
    const end = (value: unknown): RecordedSpan => {
      const span = recorder.start('one', { parent: undefined }).set('text', 'before').set('value', value);
      span.end();
      return span;
    };
    const [good, other] = [end('good'), end('other')];
    const broken = recorder.start('broken', {
      parent: undefined,
      facts: {
        describe: () => {
          throw new Error('cannot');
        },
      },
    });
    broken.end();
    const all = new PackedSpans(RESOURCE, SCOPE);
    all.add(good);
    expect(() => {
      all.add(broken);
    }).toThrow('cannot');
    all.add(other);
    const batch = all.take();
    expect(batch.spans).toBe(2);
    expect(Buffer.from(batch.bytes).equals(packed([good, other]))).toBe(true);
  });

  it('have each attribute once, with the value that was set last', () => {
    const shared = { 'a.shared': 'old', 'a.kept': 'kept' };
    const span = recorder.start('one', { parent: undefined, shared });
    span.set('an.own', 1).set('a.shared', 'new').set('an.own', 'an.own').set('a.value', 'a.kept');
    span.end();
    expect(span.attributes).toEqual({
      'a.shared': 'new',
      'a.kept': 'kept',
      'an.own': 'an.own',
      'a.value': 'a.kept',
    });
    const bytes = packed([span]).toString('latin1');
    for (const [part, times] of [
      ['old', 0],
      ['new', 1],
      ['a.shared', 1],
      ['an.own', 2],
      ['a.kept', 2],
    ] as const)
      expect([part, bytes.split(part).length - 1]).toEqual([part, times]);
  });
});
