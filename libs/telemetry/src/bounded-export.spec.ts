import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { FakeClock } from '@weir/testing';
import { boundedExport, type Export } from './bounded-export.js';
import { CollectorWatch } from './collector-watch.js';

function setUp(run: Export<string>) {
  const time = new FakeClock();
  const warn = jest.fn();
  const logger = { warn, info: () => undefined, error: () => undefined };
  const watch = new CollectorWatch({ endpoint: 'http://collector:4318', clock: time, logger });
  const results: ExportResult[] = [];
  const send = boundedExport(run, { signal: 'traces', watch, time, timeoutMs: 1000 });
  send('batch', (result) => results.push(result));
  return { time, warn, watch, results };
}

describe('boundedExport', () => {
  it('passes a success on, and leaves no timer', () => {
    const { time, watch, results } = setUp((_, done) => {
      done({ code: ExportResultCode.SUCCESS });
    });
    expect(results).toEqual([{ code: ExportResultCode.SUCCESS }]);
    expect([watch.isDown(), time.armed]).toEqual([false, 0]);
  });

  it.each([
    [Object.assign(new Error('connect 10.0.0.1'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [Object.assign(new Error('<html>SECRET'), { code: 404 }), 'http_404'],
    [new Error('Request timed out'), 'timeout'],
    [Object.assign(new Error('retryable'), { name: 'OTLPExporterError' }), 'overloaded'],
    [new TypeError('SECRET'), 'TypeError'],
    [undefined, 'unknown'],
  ])('tells why it failed in a word, without what was answered: %s', (error, word) => {
    const { watch, warn, results } = setUp((_, done) => {
      done({ code: ExportResultCode.FAILED, ...(error === undefined ? {} : { error }) });
    });
    expect(results).toMatchObject([{ code: ExportResultCode.FAILED, error: { name: word } }]);
    expect(String(results[0]?.error?.message)).not.toContain('SECRET');
    expect(warn).toHaveBeenCalledWith('telemetry export fails', expect.objectContaining({ error: word }));
    expect(watch.isDown('traces')).toBe(true);
  });

  it('is over where the exporter throws, so that the next one can leave', () => {
    const { time, watch, results } = setUp(() => {
      throw new TypeError('SECRET');
    });
    expect(results).toMatchObject([{ code: ExportResultCode.FAILED, error: { name: 'TypeError' } }]);
    expect([watch.isDown('traces'), time.armed]).toEqual([true, 0]);
  });

  it('ends by itself where the exporter never does, and is deaf to what comes later', async () => {
    let late: (result: ExportResult) => void = () => undefined;
    const { time, warn, watch, results } = setUp((_, done) => {
      late = done;
    });
    await time.advance(999);
    expect(results).toEqual([]);
    await time.advance(1);
    late({ code: ExportResultCode.SUCCESS });
    expect(results).toMatchObject([{ code: ExportResultCode.FAILED, error: { name: 'timeout' } }]);
    expect([warn.mock.calls.length, watch.isDown('traces')]).toEqual([1, true]);
  });
});
