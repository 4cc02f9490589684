import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LimiterSnapshot } from '@weir/limiter';
import { createLogger } from '@weir/telemetry';
import { LimiterMemory, stateFileFaults } from './limiter-memory.js';

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
    expect(JSON.parse(lines.join())).toMatchObject({ level: 'error', reason: 'ENOENT' });
  });

  it('says why what was kept cannot be read', () => {
    mkdirSync(join(folder, 'state.json'));
    memory().recall(limiter);
    expect(JSON.parse(lines.join())).toMatchObject({ event: 'limiter not restored', reason: 'EISDIR' });
  });
});

describe('stateFileFaults', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'weir-memory-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('finds nothing where a file can be kept, and leaves nothing behind', () => {
    const path = join(folder, 'state.json');
    expect(stateFileFaults(path)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(path, 'kept');
    expect(stateFileFaults(path)).toEqual([]);
    expect(readFileSync(path, 'utf8')).toBe('kept');
    expect(stateFileFaults(undefined)).toEqual([]);
    expect(stateFileFaults('')).toEqual([]);
  });

  it('names a folder that is not there, before anything was spent', () => {
    const path = join(folder, 'missing', 'state.json');
    expect(stateFileFaults(path)).toEqual([
      {
        path: 'WEIR_STATE_FILE',
        value: `${JSON.stringify(path)} (ENOENT)`,
        allowed: 'a file in a folder that exists and may be written to',
      },
    ]);
  });

  it('names a folder in the place of the file, and a file in that of the folder', () => {
    mkdirSync(join(folder, 'state.json'));
    expect(stateFileFaults(join(folder, 'state.json'))[0]?.value).toContain('(EISDIR)');
    writeFileSync(join(folder, 'plain'), '');
    expect(stateFileFaults(join(folder, 'plain', 'state.json'))[0]?.value).toContain('(ENOTDIR)');
  });
});
