import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboardFiles } from './dashboard-files.js';

const REPOSITORY = join(__dirname, '..');
const PAGES = ['docs/observability.md', ...globSync('docs/runbooks/*.md', { cwd: REPOSITORY })];

/** What a page sets in italics and begins with a capital or a digit is the name of something on a dashboard. */
const QUOTED = /(?<![\w`])_([A-Z\d][^_`\n]*)_(?![\w`])/g;

/** Every title and label in a dashboard's JSON: of panels, rows, links, variables and itself. */
function namesIn(json: unknown): readonly string[] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    (key === 'title' || key === 'label') && typeof value === 'string' ? [value] : namesIn(value),
  );
}

describe('panels that pages quote', () => {
  const names = new Set(dashboardFiles().flatMap(({ json }) => namesIn(json)));
  const quoted = PAGES.flatMap((page) => {
    const lines = readFileSync(join(REPOSITORY, page), 'utf8').split('\n');
    return lines.flatMap((line, at) =>
      [...line.matchAll(QUOTED)].map(([, name = '']) => ({ name, where: `${page}:${at + 1}` })),
    );
  });

  it('exist under that very name', () => {
    expect(quoted.length).toBeGreaterThan(30);
    expect(quoted.filter(({ name }) => !names.has(name))).toEqual([]);
  });
});
