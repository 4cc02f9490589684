import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { PROFILE_NAMES } from '@weir/config';

const REPOSITORY = join(__dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

const documents = globSync(['*.md', 'docs/**/*.md', '{apps,libs}/*/*.md', 'libs/*/src/**/README.md'], {
  cwd: REPOSITORY,
  exclude: ['**/node_modules/**'],
}).map((path) => ({ path, text: read(path) }));

/** Every first group of `pattern` in every document, with the place where it stands. */
function found(pattern: RegExp): { path: string; what: string }[] {
  return documents.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map((match) => ({ path, what: match[1] ?? '' })),
  );
}

const TEXT = new Set(['', '.cjs', '.js', '.json', '.md', '.mjs', '.mts', '.sh', '.ts', '.yaml', '.yml']);
/** Captured from elsewhere, or written by a tool. */
const NOT_OURS = ['package-lock.json', 'libs/upstream/fixtures/provider-responses.json'];
/** Papers that only their authors have, and numbers of sections that nobody else can look up. */
const PRIVATE_REFERENCE = new RegExp(
  [
    String.raw`(?<![\w/_-])reference/`,
    String.raw`\.md\x60?,?(?: (?:section|sections|rule|rules|table))? §?\d`,
    String.raw`\bour (?:provider )?notes\b`,
    String.raw`\btable \d+\.\d`,
    String.raw`\b(?:feasibility|provider-semantics|aesthetics|gateways)\.md`,
    String.raw`\bissue \d`,
  ].join('|'),
  'i',
);

describe('documents', () => {
  it('name commands that exist', () => {
    const commands = found(/npm run ([a-z][a-z:-]*)/g);
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.filter(({ what }) => scripts[what] === undefined)).toEqual([]);
  });

  it('link to files that exist', () => {
    const links = found(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter(({ path, what }) => !existsSync(join(REPOSITORY, dirname(path), what)))).toEqual([]);
  });

  it('stand in every library', () => {
    const libraries = globSync('libs/*', { cwd: REPOSITORY });
    expect(libraries.filter((library) => !existsSync(join(REPOSITORY, library, 'README.md')))).toEqual([]);
  });

  it('number the decisions without a gap', () => {
    const numbers = globSync('docs/decisions/[0-9]*.md', { cwd: REPOSITORY }).map((path) =>
      path.slice(15, 19),
    );
    expect(numbers.sort()).toEqual(numbers.map((_, at) => String(at + 1).padStart(4, '0')));
  });

  it('say of every provider profile what is assumed', () => {
    const headings = [...read('docs/providers.md').matchAll(/^### `([^`]+)`/gm)].map(([, name]) => name);
    expect(headings).toEqual([...PROFILE_NAMES]);
  });
});

describe('texts of the repository', () => {
  it('refer to nothing that a reader cannot open', () => {
    const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: REPOSITORY, encoding: 'utf8' })
      .split('\0')
      .filter((path) => path !== '' && TEXT.has(extname(path)) && !NOT_OURS.includes(path))
      .filter((path) => path !== 'scripts/documents.spec.ts' && existsSync(join(REPOSITORY, path)));
    expect(tracked.length).toBeGreaterThan(100);
    const references = tracked.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, at) => (PRIVATE_REFERENCE.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
    );
    expect(references).toEqual([]);
  });

  it.each([
    'reference/limiter.md',
    'as limiter.md 1.7 has it',
    'some-paper.md section 4',
    'rule 8.3 of our provider notes',
    '(table 8.5)',
    'feasibility.md',
    'what issue 3 asks',
  ])('would be caught with "%s"', (text) => {
    expect(PRIVATE_REFERENCE.test(text)).toBe(true);
  });
});
