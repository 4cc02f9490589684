import { z } from 'zod';
import { above, field, section, whole } from './field.js';

const MOST_REQUESTS = 1_000_000_000;
const MOST_TOKENS = 1_000_000_000_000;

const SHAPE_WORDS = ['unknown', 'sliding', 'fixed'] as const;

const shape = field(
  z.union([
    z.enum(SHAPE_WORDS),
    z.strictObject({
      bucket: whole(
        'A bucket that refills all the time and holds this many requests. Token limits get a bucket of the same share.',
        'requests',
        1,
        MOST_REQUESTS,
      ),
    }),
    z.strictObject({
      quantum: above('The minute is enforced in slices of this length.', 'seconds (real time)', 0, 3600),
    }),
  ]),
  'How the provider enforces its windows. `unknown` learns it from refusals. Left out at a model: as its account. At an account: `unknown`.',
  { allowed: 'unknown | sliding | fixed | { bucket: requests } | { quantum: seconds }' },
);

/** What everything that has limits may limit. No limit has a default: what is left out is not limited. */
const quantities = {
  requestsPerMinute: whole('Requests in a window.', 'requests', 1, MOST_REQUESTS).optional(),
  tokensPerMinute: whole(
    'Tokens in a window, input and output together.',
    'tokens',
    1,
    MOST_TOKENS,
  ).optional(),
  inputTokensPerMinute: whole(
    'Input tokens in a window, where the provider counts them apart.',
    'tokens',
    1,
    MOST_TOKENS,
  ).optional(),
  outputTokensPerMinute: whole(
    'Output tokens in a window, where the provider counts them apart.',
    'tokens',
    1,
    MOST_TOKENS,
  ).optional(),
  requestsPerDay: whole('Requests in any 24 hours.', 'requests', 1, MOST_REQUESTS).optional(),
  concurrency: whole(
    'Requests at one time; a stream counts until its last byte.',
    'requests',
    1,
    1_000_000,
  ).optional(),
  burst: whole(
    'Most requests that may leave at once; never exceeded. Left out: a tenth of requestsPerMinute, at least one, and more while none is refused.',
    'requests',
    1,
    MOST_REQUESTS,
  ).optional(),
};

/** Limits that a provider sets. */
export const providerLimits = section('Limits that the provider sets. What is left out is not limited.', {
  ...quantities,
  shape: shape.optional(),
});

/** Limits that we set for a team; their shape is ours, so none is asked. */
export const teamLimits = section(
  'Limits for the team over all accounts, in minutes of 60 s. What is left out is not limited.',
  quantities,
);
