import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const REPOSITORY = join(__dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const documents = globSync(['*.md', 'docs/**/*.md', '{apps,libs}/*/*.md'], {
  cwd: REPOSITORY,
  exclude: ['**/node_modules/**'],
}).map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }));

/** Every first group of `pattern` in every document, with the place where it stands. */
function found(pattern: RegExp): { path: string; what: string }[] {
  return documents.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map((match) => ({ path, what: match[1] ?? '' })),
  );
}

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
});
