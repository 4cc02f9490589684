import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { editorSchema } from './editor-schema.js';
import { fieldTables } from './field-tables.js';
import { NOT_BUILT_YET } from './unsupported.js';

const ROOT = join(__dirname, '../../..');

describe('what scripts/config-schema.ts writes is up to date', () => {
  it('apps/gateway/config/weir.schema.json', () => {
    const text = readFileSync(join(ROOT, 'apps/gateway/config/weir.schema.json'), 'utf8');
    expect(text).toBe(`${JSON.stringify(editorSchema(), null, 2)}\n`);
  });

  it('docs/configuration.md', () => {
    expect(readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')).toContain(
      `-->\n\n${fieldTables()}\n<!-- /fields -->`,
    );
  });
});

it('every field tells what it means and what is allowed', () => {
  const silent: string[] = [];
  const Node = z.looseObject({
    properties: z.record(z.string(), z.unknown()).optional(),
    description: z.string().optional(),
  });
  const visit = (value: unknown, path: string): void => {
    const node = Node.safeParse(value).data;
    if (node === undefined) return;
    for (const [name, field] of Object.entries(node.properties ?? {})) {
      const description = Node.parse(field).description ?? '';
      if (!/\. .*Allowed: ./.test(description)) silent.push(`${path}.${name}`);
      visit(field, `${path}.${name}`);
    }
    for (const key of ['items', 'additionalProperties']) visit(node[key], `${path}[]`);
  };
  visit(editorSchema(), '');
  expect(silent).toEqual([]);
});

it('the editor takes a variable in place of text of a form', () => {
  const { pattern } = z
    .object({
      properties: z.object({
        store: z.object({ properties: z.object({ url: z.object({ pattern: z.string() }) }) }),
      }),
    })
    .parse(editorSchema()).properties.store.properties.url;
  expect(new RegExp(pattern).test('${REDIS_URL}')).toBe(true);
  expect(new RegExp(pattern).test('redis://x')).toBe(true);
  expect(new RegExp(pattern).test('http://x')).toBe(false);
});

it('manual and editor mark what can be written and is not built yet', () => {
  for (const { allowed } of NOT_BUILT_YET) {
    expect(fieldTables()).toContain(`Today: ${allowed}.`);
    expect(JSON.stringify(editorSchema()).split(`Today: ${allowed}.`)).toHaveLength(2);
  }
});
