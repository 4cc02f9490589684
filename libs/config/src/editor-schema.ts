import { z } from 'zod';
import { fileSchema } from './schema.js';
import { supportNote } from './unsupported.js';

/**
 * weir.yaml as a JSON Schema for editors (draft 7, which the YAML language server knows best).
 * Always the same for the same code. It is laxer than the loader: cross-checks are not in it, and text fields
 * take a `${VAR}` in place of the value.
 */
export function editorSchema(): object {
  const schema = z.toJSONSchema(fileSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema, path }) => {
      const note = supportNote(zodSchema);
      // A wrapper has taken over the description of what it wraps.
      const told = jsonSchema.description ?? '';
      if (!told.endsWith(note)) jsonSchema.description = told + note;
      // Names of entries are not interpolated.
      if (path.at(-1) === 'propertyNames' || jsonSchema.pattern === undefined) return;
      jsonSchema.pattern = `${jsonSchema.pattern}|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}`;
    },
  });
  return { title: 'weir.yaml', ...schema };
}
