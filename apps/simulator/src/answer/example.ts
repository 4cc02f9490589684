import type { Random } from '@weir/kernel';
import type { Json } from '../provider/faults.js';

/** Deeper schemas get null: a schema may refer to itself. */
const MAX_DEPTH = 8;

/** A value that a JSON schema allows, as far as types, enums, items and properties say it. */
export function exampleOf(schema: unknown, random: Random, depth = 0): Json {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null;
  const allowed: unknown = schema['enum'];
  if (Array.isArray(allowed)) return scalar(allowed[Math.floor(random.next() * allowed.length)]);
  switch (schema['type']) {
    case 'string':
      return random.next().toString(36).slice(2, 8);
    case 'integer':
    case 'number':
      return Math.floor(random.next() * 100);
    case 'boolean':
      return random.next() < 0.5;
    case 'array':
      return [exampleOf(schema['items'], random, depth + 1)];
    case 'null':
      return null;
    default:
      return exampleObject(schema['properties'], random, depth);
  }
}

function exampleObject(properties: unknown, random: Random, depth: number): Json {
  if (!isRecord(properties)) return {};
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([name, schema]) => [name, exampleOf(schema, random, depth + 1)]));
}

function scalar(value: unknown): Json {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
