import { z } from 'zod';
import { above, atLeast, field, oneOf, section, standing, text } from './field.js';
import { PROFILE_NAMES } from './gateway-config.js';
import { providerLimits } from './schema-limits.js';

// A model name travels in JSON, headers and labels: printable ASCII without blanks is what all of them carry.
const MODEL_NAME = /^[\x21-\x7e]{1,256}$/;

/** An id of an account or a team. @param taken a word that telemetry uses itself */
export function identifier(says: string, taken?: string): z.ZodString {
  const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
  const allowed = '1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit';
  if (taken === undefined) return text(says, pattern, allowed);
  return text(says, new RegExp(`^(?!${taken}$)${pattern.source.slice(1)}`), `${allowed} (${taken} is taken)`);
}

/** A model name, as a provider or a caller writes it. */
export function modelName(says: string): z.ZodString {
  return text(says, MODEL_NAME, '1 to 256 printable ASCII characters without blanks');
}

const baseUrl = field(
  z.string().refine(isBaseUrl),
  "Where the provider's OpenAI-compatible API begins; `/chat/completions` is appended.",
  {
    allowed:
      'an http:// or https:// address without user, password, query or fragment, and without /chat/completions at its end',
  },
);

function isBaseUrl(value: string): boolean {
  if (!/^https?:\/\/[^\s?#]+$/i.test(value)) return false;
  // What an SDK's manual shows is often the whole address: the path would then be appended twice.
  if (/\/chat\/completions\/*$/i.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && url.username === '' && url.password === '';
}

const apiKey = field(
  // Printable ASCII, because it becomes a header value.
  z.string().regex(/^[\x21-\x7e]+$/),
  "The provider's key, best as `${VARIABLE}`. A server that wants none gets any word.",
  { allowed: 'printable ASCII without blanks, not empty', secret: true },
);

const usd = (says: string): z.ZodNumber => atLeast(says, 'US dollars for 1,000,000 tokens', 0, 1_000_000);

const price = section('What tokens cost. Left out: unknown, and no cost is reported.', {
  inputPerMTok: usd('Input tokens.'),
  outputPerMTok: usd('Output tokens.'),
  cachedInputPerMTok: usd('Input tokens that the provider had cached. Left out: as inputPerMTok.').optional(),
});

const model = section('One model of the account. `{}` where nothing is to be said of it.', {
  limits: providerLimits.optional(),
  price: price.optional(),
  midStream: standing(
    oneOf(
      'What a stream becomes that breaks after its first visible frame: an error, asked again and joined, or continued.',
      ['fail', 'splice', 'continue'],
    ),
    'fail',
  ),
});

const models = field(
  z.record(modelName("The provider's name of the model; it may hold slashes."), model),
  "The account's models, by the provider's own names.",
  { allowed: 'a map of model names with at least one entry' },
)
  .refine((entries) => Object.keys(entries).length > 0)
  .meta({ minProperties: 1 });

/** One credential at one provider. */
export const account = section('One credential at one provider.', {
  id: identifier('Its name in routes, metrics and logs.'),
  profile: standing(oneOf('How this provider counts and what its errors mean.', PROFILE_NAMES), 'generic'),
  baseUrl,
  apiKey,
  limits: providerLimits.optional(),
  windowSeconds: standing(
    above(
      'What "a minute" lasts at this account. Anything but 60 is for simulators and tests.',
      'seconds',
      0,
      3600,
    ),
    60,
  ),
  refundRequestsOn429: standing(
    field(
      z.boolean(),
      'Give the request back after a 429. Only for providers known not to count refused requests: elsewhere it causes a storm of 429s.',
      { allowed: 'true | false' },
    ),
    false,
  ),
  models,
});
