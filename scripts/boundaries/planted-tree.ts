import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** File contents by path, relative to the root of a tree. */
export type Tree = Readonly<Record<string, string>>;

const DOOR = /^(?:apps\/[^/]+\/src\/main|libs\/[^/]+\/src\/index)\.ts$/;
const TEST = /\.(?:spec|contract)\.ts$|\/(?:test|testing)\//;
const IMPORTED = /(?:from|import) '([^']+)'/g;

/** Packages that a plant may use although package.json of the tree does not name them. */
const UNDECLARED = new Set(['left-pad']);
const DEV_ONLY = new Set(['fast-check']);

/**
 * Everything that a planted file needs around it to break one rule and no other: the libraries and packages that it imports,
 * and a door (main.ts or index.ts) that reaches it.
 */
export function furnish(planted: Tree): Tree {
  const specifiers = Object.values(planted).flatMap((code) =>
    [...code.matchAll(IMPORTED)].map((m) => m[1] ?? ''),
  );
  const libraries = specifiers.flatMap((specifier) => /^@weir\/(.+)$/.exec(specifier)?.[1] ?? []);
  const packages = [...new Set(specifiers.filter(isPackage))];
  return {
    ...Object.fromEntries(libraries.map((lib) => [`libs/${lib}/src/index.ts`, 'export const x = 1;\n'])),
    ...doorsTo(Object.keys(planted)),
    ...Object.fromEntries(packages.flatMap(packageFiles)),
    'package.json': manifest(packages),
    'tsconfig.json': TSCONFIG,
    ...planted,
  };
}

/** @returns the folder in `parent` into which the tree was written. */
export function plant(parent: string, tree: Tree): string {
  const root = mkdtempSync(join(parent, 'tree-'));
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** @returns a new folder for trees; the caller removes it. */
export function nursery(): string {
  return mkdtempSync(join(tmpdir(), 'weir-boundaries-'));
}

function isPackage(specifier: string): boolean {
  const known = specifier.startsWith('.') || specifier.startsWith('@weir/') || specifier.startsWith('node:');
  return !known && !builtinModules.includes(specifier);
}

function packageFiles(name: string): [string, string][] {
  return [
    [`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' })],
    [`node_modules/${name}/index.js`, 'exports.x = 1;\n'],
  ];
}

function manifest(packages: readonly string[]): string {
  const named = (wanted: (name: string) => boolean): Record<string, string> =>
    Object.fromEntries(packages.filter(wanted).map((name) => [name, '1.0.0']));
  return JSON.stringify({
    dependencies: named((name) => !DEV_ONLY.has(name) && !UNDECLARED.has(name)),
    devDependencies: named((name) => DEV_ONLY.has(name)),
  });
}

function doorsTo(paths: readonly string[]): Tree {
  const doors: Record<string, string> = {};
  for (const path of paths.filter((candidate) => !DOOR.test(candidate) && !TEST.test(candidate))) {
    const [, room = '', kind = '', rest = ''] = /^((apps|libs)\/[^/]+)\/src\/(.+)\.ts$/.exec(path) ?? [];
    if (room === '') continue;
    const door = `${room}/src/${kind === 'apps' ? 'main' : 'index'}.ts`;
    doors[door] = `${doors[door] ?? ''}import './${rest}.js';\n`;
  }
  return doors;
}

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    isolatedModules: true,
    experimentalDecorators: true,
    types: [],
    paths: { '@weir/*': ['./libs/*/src/index.ts'] },
  },
  include: ['apps', 'libs', 'scripts'],
});
