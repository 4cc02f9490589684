import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LimiterSnapshot } from '@weir/limiter';
import { createLogger } from '@weir/telemetry';
import { LimiterMemory } from './limiter-memory.js';

const SNAPSHOT: LimiterSnapshot = { version: 1, takenAt: 5, dimensions: {} };

describe('LimiterMemory', () => {
  let folder: string;
  let restored: LimiterSnapshot[];
  let lines: string[];
  const memory = () =>
    new LimiterMemory(
      join(folder, 'state.json'),
      createLogger({ service: 't', write: (line) => lines.push(line) }),
    );
  const limiter = {
    snapshot: () => SNAPSHOT,
    restore: (snapshot: LimiterSnapshot) => {
      restored.push(snapshot);
    },
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-memory-'));
    restored = [];
    lines = [];
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('brings back what was kept, once', () => {
    memory().keep(limiter);
    memory().recall(limiter);
    memory().recall(limiter);
    expect(restored).toEqual([SNAPSHOT]);
    expect(existsSync(join(folder, 'state.json'))).toBe(false);
  });

  it.each(['{', '[]', '{"version":2,"dimensions":{}}', ''])('starts without a broken file: %j', (text) => {
    writeFileSync(join(folder, 'state.json'), text);
    memory().recall(limiter);
    expect(restored).toEqual([]);
    expect(lines.join()).toContain('limiter not restored');
  });

  it('ends without a place to write to, and says so', () => {
    new LimiterMemory(
      join(folder, 'missing', 'state.json'),
      createLogger({ service: 't', write: (line) => lines.push(line) }),
    ).keep(limiter);
    expect(lines.join()).toContain('limiter not kept');
  });
});
