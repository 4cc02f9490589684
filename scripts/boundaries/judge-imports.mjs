/**
 * Prints as JSON what dependency-cruiser says of some trees: `{ rules, verdicts: [[{ rule, from, to }]] }`.
 * Its own process, because the cruiser resolves everything against the working directory.
 * Usage: node judge-imports.mjs <repository> <tree>...
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const [repository, ...trees] = process.argv.slice(2);
const { forbidden, options } = createRequire(import.meta.url)(join(repository, '.dependency-cruiser.cjs'));

async function judge(tree) {
  process.chdir(tree);
  const { output } = await cruise(
    ['.'],
    { ...options, ruleSet: { forbidden, options }, validate: true },
    { ...options.enhancedResolveOptions, tsConfig: options.tsConfig.fileName },
    { tsConfig: extractTSConfig(options.tsConfig.fileName) },
  );
  return output.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
}

const verdicts = [];
for (const tree of trees) {
  verdicts.push(await judge(tree));
}
console.log(JSON.stringify({ rules: forbidden.map(({ name }) => name), verdicts }));
