import { emptyResource } from '@opentelemetry/resources';
import { seededRandom } from '@weir/kernel';
import { FakeClock } from '@weir/testing';
import fc from 'fast-check';
import { ReadableRecord } from '../test/readable-record.js';
import { toHrTime } from './hr-time.js';
import type { RecordedSpan } from './recorded-span.js';
import { SpanRecorder, type SpanSink } from './span-recorder.js';

const REMOTE = {
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  spanId: '00f067aa0ba902b7',
  isRemote: true,
};

function recorderOf(
  exportRatio: number,
  clock = new FakeClock(),
  sinks: readonly SpanSink[] = [],
): SpanRecorder {
  const random = seededRandom(11);
  return new SpanRecorder({
    clock,
    random,
    sinks,
    exportRatio,
  });
}

function flags(span: RecordedSpan): number {
  return span.spanContext().traceFlags;
}

describe('SpanRecorder', () => {
  it('marks about the asked share of traces for export, and all spans of a trace alike', () => {
    const recorder = recorderOf(0.2);
    const roots = Array.from({ length: 2000 }, () => recorder.start('x', { parent: undefined }));
    const exported = roots.filter((root) => flags(root) === 1).length;
    expect(exported).toBeGreaterThan(340);
    expect(exported).toBeLessThan(460);
    for (const root of roots) {
      const child = recorder.start('y', { parent: root });
      expect(flags(child)).toBe(flags(root));
      expect(child.spanContext().traceId).toBe(root.spanContext().traceId);
      expect(child.parentSpanContext).toBe(root.spanContext());
    }
  });

  it('honours a caller who wants its trace exported, and lets nobody hide one', () => {
    const wanted = { parent: { ...REMOTE, traceFlags: 1 } };
    const unwanted = { parent: { ...REMOTE, traceFlags: 0 } };
    expect(flags(recorderOf(0).start('x', wanted))).toBe(1);
    expect(flags(recorderOf(0).start('x', unwanted))).toBe(0);
    expect(flags(recorderOf(1).start('x', unwanted))).toBe(1);
  });

  it('makes ids of the right form that do not repeat', () => {
    const recorder = recorderOf(1);
    const ids = new Set<string>();
    for (let count = 0; count < 1000; count += 1) {
      const { traceId, spanId } = recorder.start('x', { parent: undefined }).spanContext();
      expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      expect(spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
      ids.add(traceId).add(spanId);
    }
    expect(ids.size).toBe(2000);
  });

  it('tells its sinks once, and keeps a clock step out of a trace', () => {
    const clock = new FakeClock(500, 1_000_000);
    const ended: RecordedSpan[] = [];
    const recorder = recorderOf(1, clock, [{ ended: (span) => ended.push(span) }]);
    const root = recorder.start('root', { parent: undefined });
    clock.jump(750);
    const child = recorder.start('child', { parent: root, at: 600 });
    child.endAt(700);
    child.end();
    root.end();
    const times = ended.map((span) => {
      const { name, startTime, endTime, duration } = new ReadableRecord(span, emptyResource(), {
        name: 'test',
      });
      return { name, startTime, endTime, duration };
    });
    expect(times).toEqual([
      { name: 'child', startTime: [1000, 600e6], endTime: [1000, 700e6], duration: [0, 100e6] },
      { name: 'root', startTime: [1000, 500e6], endTime: [1000, 750e6], duration: [0, 250e6] },
    ]);
  });

  it('never ends a span before its start', () => {
    const span = recorderOf(1).start('x', { parent: undefined, at: 100 });
    span.endAt(50);
    expect(span.seconds).toBe(0);
  });
});

describe('toHrTime', () => {
  it('is a whole second and nanoseconds below one', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4e12, noNaN: true }), (ms) => {
        const [seconds, nanos] = toHrTime(ms);
        expect(Number.isInteger(seconds) && Number.isInteger(nanos)).toBe(true);
        expect(nanos >= 0 && nanos < 1e9).toBe(true);
        expect(Math.abs(seconds * 1000 + nanos / 1e6 - ms)).toBeLessThan(0.001);
      }),
      { seed: 1 },
    );
  });
});
