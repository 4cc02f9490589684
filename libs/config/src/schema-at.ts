import { z } from 'zod';
import { fieldFacts, type FieldFacts } from './field.js';
import type { FieldPath } from './fault.js';

/** The schema that rules the value at `path`; undefined where the path leads out of the schema. */
export function schemaAt(root: z.core.$ZodType, path: FieldPath): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType | undefined = unwrap(root);
  for (const key of path) {
    schema = child(schema, key);
    if (schema === undefined) return undefined;
    schema = unwrap(schema);
  }
  return schema;
}

/** The facts of the field at `path`, or of the nearest field around it that has some. */
export function factsAt(root: z.core.$ZodType, path: FieldPath): FieldFacts | undefined {
  for (let length = path.length; length >= 0; length--) {
    const schema = schemaAt(root, path.slice(0, length));
    const facts = schema && fieldFacts.get(schema);
    if (facts) return facts;
  }
  return undefined;
}

/** The field names that are allowed at `path`; none where the value there is no map of fields. */
export function fieldNamesAt(root: z.core.$ZodType, path: FieldPath): readonly string[] {
  const schema = schemaAt(root, path);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** The schema without the wrappers that only say what happens when the value is missing. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return unwrap(schema.def.innerType);
  }
  return schema;
}

function child(schema: z.core.$ZodType, key: string | number): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    const fields: Readonly<Record<string, z.core.$ZodType>> = schema.def.shape;
    return Object.hasOwn(fields, key) ? fields[key] : undefined;
  }
  if (schema instanceof z.ZodArray) return schema.def.element;
  if (schema instanceof z.ZodRecord) return schema.def.valueType;
  return undefined;
}
