import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = join(__dirname, '..');
const HARD_CAP = 400;
const USUAL_CAP = 250;

const sources = globSync('{apps,libs,scripts}/**/*.{ts,mts,mjs,cjs,lua}', {
  cwd: REPOSITORY,
  exclude: (path) => path.includes('fixtures'),
}).map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }));

const sized = sources.map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }));

describe('source files (docs/decisions/0003)', () => {
  it(`never exceed ${HARD_CAP} lines`, () => {
    expect(sized.filter(({ lines }) => lines > HARD_CAP)).toEqual([]);
  });

  it(`hold at most ${USUAL_CAP} lines in 95 of 100`, () => {
    const long = sized.filter(({ lines }) => lines > USUAL_CAP);
    expect({ share: long.length / sized.length <= 0.05, long }).toMatchObject({ share: true });
  });

  it('never switch off a rule', () => {
    const switchedOff = /(?:eslint|@ts)-(?:disable|ignore|nocheck).*/g;
    const found = sources.flatMap(({ path, text }) =>
      (text.match(switchedOff) ?? []).map((comment) => ({ path, comment })),
    );
    expect(found).toEqual([]);
  });
});
