import type { z } from 'zod';
import { invalidInput, type OpenAiError } from '../answer/openai-error.js';

/** A control call that says something the simulator does not know; it names the field. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';

  constructor(readonly error: OpenAiError) {
    super(error.message);
  }
}

/** The body, or what is wrong with it. */
export function decode<Input>(schema: z.ZodType<Input>, body: unknown): Input {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new InvalidInput(invalidInput(parsed.error));
}
