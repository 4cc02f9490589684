/**
 * Prints as JSON what our ESLint configuration restricts and what it says of a tree:
 * `{ restrictions: [{ id, ruleId, says }], complaints: [{ file, ruleId, message }] }`.
 * One restriction for each block `weir/…` and each thing that the block forbids.
 * Its own process, because ESLint is not made to be loaded by Jest.
 * Usage: node judge-code.mjs <repository> <tree>
 */
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ESLint } from 'eslint';

const [repository, tree] = process.argv.slice(2);
const configuration = join(repository, 'eslint.config.mjs');

/** @returns how ESLint words one entry of a `no-restricted-*` rule. */
function saysOf({ object, property, name, message }) {
  if (object) return `'${object}.${property}'`;
  return name ? `'${name}'` : message;
}

function restrictionsOf(block) {
  return Object.entries(block.rules).flatMap(([ruleId, [, ...options]]) =>
    ruleId.startsWith('no-restricted-')
      ? options.map(saysOf).map((says) => ({ id: `${block.name}: ${says}`, ruleId, says }))
      : [{ id: `${block.name}: ${ruleId}`, ruleId, says: '' }],
  );
}

const { default: blocks } = await import(pathToFileURL(configuration).href);
const restrictions = blocks.filter(({ name }) => name?.startsWith('weir/')).flatMap(restrictionsOf);

const linter = new ESLint({ cwd: tree, overrideConfigFile: configuration });
const complaints = (await linter.lintFiles(['.'])).flatMap(({ filePath, messages }) =>
  messages.map(({ ruleId, message }) => ({ file: relative(tree, filePath), ruleId, message })),
);
console.log(JSON.stringify({ restrictions, complaints }));
