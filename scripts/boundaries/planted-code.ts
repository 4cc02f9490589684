import type { Tree } from './planted-tree.js';

/** A file that breaks one restriction of eslint.config.mjs. */
export interface PlantedCode {
  /** `<block>: <what it forbids>`, as judge-code.mjs names it. */
  readonly restriction: string;
  readonly path: string;
  readonly code: string;
}

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

/** Bodies of one function each, by what they break. */
const HOUSE: Readonly<Record<string, string>> = {
  '@typescript-eslint/consistent-type-imports':
    "import { Box } from './box.js';\nexport function f(box: Box): string {\n  return box.label;\n}\n",
  '@typescript-eslint/explicit-module-boundary-types': 'export function f() {\n  return 1;\n}\n',
  '@typescript-eslint/no-explicit-any': 'export type Loose = any;\n',
  '@typescript-eslint/no-non-null-assertion':
    'export function f(text: string | undefined): number {\n  return text!.length;\n}\n',
  '@typescript-eslint/switch-exhaustiveness-check':
    "export function f(side: 'a' | 'b'): number {\n  switch (side) {\n    case 'a':\n      return 1;\n  }\n  return 2;\n}\n",
  complexity: `export function f(n: number): string {\n${lines(12, (at) => `  if (n === ${at}) return '${at}';`)}\n  return '';\n}\n`,
  'max-lines': `${lines(401, (at) => `export const n${at} = ${at};`)}\n`,
  'max-lines-per-function': `export function f(): number {\n  let n = 0;\n${lines(40, () => '  n += 1;')}\n  return n;\n}\n`,
  'max-params':
    'export function f(a: number, b: number, c: number, d: number, e: number): number {\n  return a + b + c + d + e;\n}\n',
  'no-console':
    "declare global {\n  var console: { log: (line: string) => void };\n}\nconsole.log('hello');\nexport {};\n",
  'Export by name: the public surface must be visible in a diff.': "export * from './box.js';\n",
  'Named exports only.': 'const one = 1;\nexport default one;\n',
  'Use a union of string literals.': 'export enum Side {\n  left,\n  right,\n}\n',
  'Siblings never import siblings.': 'export declare function forwardRef(): number;\n',
  "Name the concept, in the field's words.":
    'export class QuotaManager {\n  constructor(readonly size: number) {}\n}\n',
};

const AMBIENT: Readonly<Record<string, string>> = {
  "'Date.now'": 'export const n = Date.now();\n',
  "'performance.now'":
    'declare const performance: { now: () => number };\nexport const n = performance.now();\n',
  "'process.hrtime'":
    'declare const process: { hrtime: () => number };\nexport const n = process.hrtime();\n',
  "'Math.random'": 'export const n = Math.random();\n',
};

const OUTSIDE_KERNEL: Readonly<Record<string, string>> = {
  ...AMBIENT,
  "'process.env'": 'declare const process: { env: { HOME: string } };\nexport const { env } = process;\n',
  "'setTimeout'": 'export const n = setTimeout;\n',
  "'setInterval'": 'export const n = setInterval;\n',
  "'setImmediate'": 'declare global {\n  var setImmediate: () => void;\n}\nexport const n = setImmediate;\n',
  "'fetch'": 'export const n = fetch;\n',
  'Ask Clock.': 'export const n = new Date();\n',
};

/** Restrictions of the house that the block for apps and libraries states again, because ESLint replaces and never merges. */
const SYNTAX = Object.keys(HOUSE).filter((id) => id.endsWith('.'));

function inBlock(block: string, folder: string, codes: Readonly<Record<string, string>>): PlantedCode[] {
  return Object.entries(codes).map(([forbidden, code], at) => ({
    restriction: `${block}: ${forbidden}`,
    path: `${folder}/planted-${at}.ts`,
    code,
  }));
}

/** Exactly one for every restriction. */
export const PLANTED_CODE: readonly PlantedCode[] = [
  ...inBlock('weir/house', 'libs/kernel/src', HOUSE),
  ...inBlock('weir/time-chance-environment', 'libs/limiter/src', {
    ...Object.fromEntries(SYNTAX.map((id) => [id, HOUSE[id] ?? ''])),
    ...OUTSIDE_KERNEL,
  }),
  ...inBlock('weir/readers-of-the-environment', 'libs/config/src', AMBIENT),
];

/** What the planted code needs beside it, and what the configuration permits; no rule may speak. */
export const PERMITTED_CODE: Tree = {
  'libs/kernel/src/box.ts': 'export interface Box {\n  readonly label: string;\n}\n',
  'libs/limiter/src/box.ts': 'export interface Box {\n  readonly label: string;\n}\n',
  'libs/kernel/src/clock.ts': 'export const now = (): number => Date.now() + Math.random();\n',
  'libs/config/src/environment.ts': OUTSIDE_KERNEL["'process.env'"] ?? '',
  'apps/gateway/src/main.ts': OUTSIDE_KERNEL["'process.env'"] ?? '',
  'libs/limiter/src/planted.spec.ts': 'export const n = Date.now();\nexport const later = new Date(n);\n',
};
