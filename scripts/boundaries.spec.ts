import { execFile } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PERMITTED_CODE, PLANTED_CODE } from './boundaries/planted-code.js';
import { PERMITTED_IMPORTS, PLANTED_IMPORTS } from './boundaries/planted-imports.js';
import { furnish, nursery, plant } from './boundaries/planted-tree.js';

const REPOSITORY = join(__dirname, '..');

interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

interface ImportVerdicts {
  readonly rules: readonly string[];
  readonly verdicts: readonly (readonly Violation[])[];
}

interface CodeVerdict {
  readonly restrictions: readonly { readonly id: string; readonly ruleId: string; readonly says: string }[];
  readonly complaints: readonly {
    readonly file: string;
    readonly ruleId: string;
    readonly message: string;
  }[];
}

/** Runs one of the judges in its own process and reads what it prints. */
async function ask(judge: string, ...trees: readonly string[]): Promise<unknown> {
  const script = join(__dirname, 'boundaries', judge);
  const { stdout } = await promisify(execFile)(process.execPath, [script, REPOSITORY, ...trees], {
    maxBuffer: 1 << 26,
  });
  return JSON.parse(stdout);
}

const unique = (values: readonly string[]): string[] => [...new Set(values)].sort();

let folder: string;
beforeAll(() => {
  folder = nursery();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('import rules', () => {
  let rules: readonly string[];
  let verdicts: readonly (readonly Violation[])[];

  beforeAll(async () => {
    const trees = [...PLANTED_IMPORTS.map(({ planted }) => planted), PERMITTED_IMPORTS];
    const roots = trees.map((tree) => plant(folder, furnish(tree)));
    ({ rules, verdicts } = (await ask('judge-imports.mjs', ...roots, REPOSITORY)) as ImportVerdicts);
  });

  it('have a planted violation each', () => {
    expect(unique(PLANTED_IMPORTS.map(({ rule }) => rule))).toEqual(unique(rules));
  });

  it.each(PLANTED_IMPORTS.map(({ rule, times }, at) => ({ rule, times, at })))(
    '$rule reports its planted violation, and nothing else does',
    ({ rule, times, at }) => {
      expect(verdicts[at]?.map((violation) => violation.rule)).toEqual(
        Array.from({ length: times }, () => rule),
      );
    },
  );

  it('allow what the table and the permissions allow', () => {
    expect(verdicts.at(-2)).toEqual([]);
  });

  it('find nothing in this repository', () => {
    expect(verdicts.at(-1)).toEqual([]);
  });

  it('know every library of this repository', () => {
    const known = rules.join(' ');
    expect(readdirSync(join(REPOSITORY, 'libs')).filter((lib) => !known.includes(`${lib}-imports-`))).toEqual(
      [],
    );
  });
});

describe('code restrictions', () => {
  let verdict: CodeVerdict;

  beforeAll(async () => {
    const planted = Object.fromEntries(PLANTED_CODE.map(({ path, code }) => [path, code]));
    verdict = (await ask(
      'judge-code.mjs',
      plant(folder, { ...furnish({}), ...PERMITTED_CODE, ...planted }),
    )) as CodeVerdict;
  }, 120_000);

  it('have a planted violation each', () => {
    expect(PLANTED_CODE.map(({ restriction }) => restriction).sort()).toEqual(
      verdict.restrictions.map(({ id }) => id).sort(),
    );
  });

  it.each(PLANTED_CODE)('$restriction reports its planted violation, and nothing else does', (planted) => {
    const restriction = verdict.restrictions.find(({ id }) => id === planted.restriction);
    const complaints = verdict.complaints.filter(({ file }) => file === planted.path);
    expect(complaints.map(({ ruleId }) => ruleId)).toEqual([restriction?.ruleId]);
    expect(complaints[0]?.message).toContain(restriction?.says);
  });

  it('are silent about what is permitted', () => {
    expect(verdict.complaints.filter(({ file }) => file in PERMITTED_CODE)).toEqual([]);
  });
});
