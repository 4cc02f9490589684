import { z } from 'zod';

/** What people are told of a field. */
export interface FieldFacts {
  /** Its meaning, without unit, range and default. */
  readonly says: string;
  /** Completes "allowed: …". */
  readonly allowed: string;
  readonly unit?: string;
  /** Its value is never shown. */
  readonly secret?: boolean;
}

/** Facts of every field of the schema. Apart from zod's own registry, because they are no JSON Schema keywords. */
export const fieldFacts = z.registry<FieldFacts>();

/** Gives a schema its meaning and its facts. Checks that are added to the result inherit both. */
export function field<T extends z.ZodType>(schema: T, says: string, facts: Omit<FieldFacts, 'says'>): T {
  const unit = facts.unit === undefined ? '' : ` Unit: ${facts.unit}.`;
  z.globalRegistry.add(schema, { description: `${says}${unit} Allowed: ${facts.allowed}.` });
  fieldFacts.add(schema, { says, ...facts });
  return schema;
}

/** A whole number. */
export function whole(says: string, unit: string, min: number, max: number): z.ZodInt {
  return field(z.int().min(min).max(max), says, { unit, allowed: `a whole number from ${min} to ${max}` });
}

/** A number that may have a fraction, above `above` and at most `max`. */
export function above(says: string, unit: string, above: number, max: number): z.ZodNumber {
  return field(z.number().gt(above).max(max), says, {
    unit,
    allowed: `a number above ${above}, at most ${max}`,
  });
}

/** A number that may have a fraction, `min` included. */
export function atLeast(says: string, unit: string, min: number, max: number): z.ZodNumber {
  return field(z.number().min(min).max(max), says, { unit, allowed: `a number from ${min} to ${max}` });
}

/** One of a few words. */
export function oneOf<const T extends readonly string[]>(
  says: string,
  words: T,
): z.ZodEnum<{ [K in T[number]]: K }> {
  return field(z.enum(words), says, { allowed: words.join(' | ') });
}

/** Text of a form. */
export function text(says: string, pattern: RegExp, allowed: string): z.ZodString {
  return field(z.string().regex(pattern), says, { allowed });
}

/** A map with these fields and no others. */
export function section<T extends z.ZodRawShape>(says: string, shape: T): z.ZodObject<T, z.core.$strict> {
  return field(z.strictObject(shape), says, { allowed: `a map with ${Object.keys(shape).join(', ')}` });
}

/** What stands where the file says nothing; the description tells it too. */
export function standing<T extends z.ZodType>(
  schema: T,
  value: z.util.NoUndefined<z.output<T>>,
): z.ZodDefault<T> {
  const wrapped = z._default(schema, value);
  const told = z.globalRegistry.get(schema)?.description ?? '';
  z.globalRegistry.add(wrapped, { description: `${told} Default: ${JSON.stringify(value)}.` });
  return wrapped;
}
