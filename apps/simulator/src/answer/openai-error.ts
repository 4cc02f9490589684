import type { z } from 'zod';
import { jsonAnswer, type Answer } from './answer.js';

/** OpenAI's error body. */
export interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** An error in OpenAI's shape. */
export function errorAnswer(status: number, error: OpenAiError): Answer {
  return jsonAnswer(status, { error });
}

/** The first fault of an input, named by its path: `messages[0].role`. */
export function invalidInput({ issues: [issue] }: z.ZodError): OpenAiError {
  const param = pathOf(issue);
  const message =
    param === '' ? 'The body must be a JSON object.' : `${param}: ${issue?.message ?? 'invalid'}`;
  return { message, type: 'invalid_request_error', param: param || null, code: null };
}

function pathOf(issue: z.core.$ZodIssue | undefined): string {
  if (!issue) return '';
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const steps = [...issue.path, ...unknown].map((step) =>
    typeof step === 'number' ? `[${step}]` : `.${String(step)}`,
  );
  return steps.join('').replace(/^\./, '');
}

/** No key, or none that can be read. */
export const UNAUTHORIZED = errorAnswer(401, {
  message: 'Send a key as "Authorization: Bearer KEY". The simulator takes any key.',
  type: 'invalid_request_error',
  param: null,
  code: 'invalid_api_key',
});
