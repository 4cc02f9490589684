import { z } from 'zod';
import { above, atLeast, field, oneOf, section, standing, text, whole } from './field.js';
import { account, identifier, modelName } from './schema-account.js';
import { teamLimits } from './schema-limits.js';

/** The longest delay that a Node timer keeps. */
const LONGEST_MS = 2 ** 31 - 1;

const ms = (says: string, min = 1, max = LONGEST_MS): z.ZodInt => whole(says, 'milliseconds', min, max);

const digests = (says: string): z.ZodArray<z.ZodString> =>
  field(
    z.array(
      field(z.string().regex(/^sha256:[0-9a-fA-F]{64}$/), 'The SHA-256 of one key.', {
        allowed: '"sha256:" and the 64 hex digits that printf %s KEY | sha256sum prints',
        secret: true,
      }),
    ),
    says,
    { allowed: 'a list of "sha256:" digests', secret: true },
  );

const target = text(
  'An account id, a slash, and one of its models. The id ends at the first slash.',
  /^[^/\s]+\/\S+$/,
  'account/model',
);

const route = section('Where requests for one model name go.', {
  targets: field(
    z.array(target).min(1),
    'Equal choices: the one expected to serve first is taken; where none is sooner, the earlier in this list.',
    {
      allowed: 'a list of account/model with at least one entry',
    },
  ),
  fallback: standing(
    field(
      z.array(target),
      'Tried in this order where no target can serve, before the first visible frame only.',
      {
        allowed: 'a list of account/model',
      },
    ),
    [],
  ),
});

const routes = field(
  z.record(modelName('The model name that callers use.'), route),
  'Model names that callers use. Left out: every configured model under its own name, over every account that has it.',
  { allowed: 'a map of model names with at least one entry' },
)
  .refine((entries) => Object.keys(entries).length > 0)
  .meta({ minProperties: 1 });

const team = section('Somebody who may call.', {
  id: identifier('Its name in metrics, spans and logs.', 'unknown'),
  keys: digests('Digests of the keys that this team calls with.').min(1),
  weight: standing(above('Its share of the room, relative to other teams.', 'shares', 0, 1000), 1),
  limits: teamLimits.optional(),
  budget: section('What the team may spend.', {
    usdPerDay: above('In a UTC day, over all models.', 'US dollars', 0, 1_000_000_000),
  }).optional(),
  promptTemplates: standing(
    field(
      z.array(
        text(
          'A value of the header x-prompt-template.',
          /^(?!(?:none|other)$)[a-z0-9._-]{1,64}$/,
          '1 to 64 of a-z 0-9 . _ - (none and other are taken)',
        ),
      ),
      'Templates that metrics always tell apart. Of other names each process tells the first 200 apart; the rest count as `other`.',
      { allowed: 'a list of template names' },
    ),
    [],
  ),
});

const server = section('Where and how the gateway listens.', {
  host: standing(
    text(
      'The address to listen on. WEIR_HOST overrides it.',
      /^[A-Za-z0-9.:_%-]{1,255}$/,
      'a host name or IP address',
    ),
    '127.0.0.1',
  ),
  port: standing(
    whole('The port to listen on; 0 takes a free one. WEIR_PORT overrides it.', 'port', 0, 65535),
    8080,
  ),
  bodyLimitBytes: standing(whole('Largest request body.', 'bytes', 1024, 2 ** 30), 10_485_760),
  drainMs: standing(ms('How long running streams may go on after SIGTERM.', 0, 3_600_000), 30_000),
  earlyOpenAfterMs: standing(
    ms(
      'After this wait a streaming caller gets its 200 and comments, so that balancers keep the connection. 0: never.',
      0,
      3_600_000,
    ),
    0,
  ),
  adminKeys: standing(digests('Digests of the keys for /admin/v1. Empty: nobody.'), []),
});

const timeouts = section('How long one attempt at a provider may take.', {
  connectMs: standing(ms('To a connection, TLS included.'), 5_000),
  headersMs: standing(ms('From the request sent to the headers of the answer.'), 60_000),
  firstFrameMs: standing(ms('From the headers to the first visible frame.'), 60_000),
  idleMs: standing(ms('Between two pieces of a stream.'), 60_000),
  totalMs: standing(ms('The whole attempt.'), 600_000),
});

const breaker = section('When a model of an account is left alone for a while. 429s never count.', {
  minAttempts: standing(whole('Fewest attempts in the window to judge by.', 'attempts', 1, 1_000_000), 20),
  failureShare: standing(above('Share of failures that opens it.', 'share', 0, 1), 0.5),
  windowMs: standing(ms('The window to judge by.'), 10_000),
  openMs: standing(ms('How long it stays open the first time; doubled while probes fail.'), 5_000),
  maxOpenMs: standing(ms('The longest it stays open.'), 60_000),
});

const queue = section('How long, and how many, requests may wait.', {
  maxWaitMs: standing(
    ms(
      'How long after its arrival (the first acquire) a request may still be sent: its waits, attempts and retries count together. x-weir-max-wait-ms only lowers it.',
    ),
    60_000,
  ),
  maxDepth: standing(whole('Waiting requests in this process.', 'requests', 1, 10_000_000), 10_000),
  maxDepthPerTeam: whole(
    'Waiting requests of one team. Left out: 2000, or maxDepth where that is less.',
    'requests',
    1,
    10_000_000,
  ).optional(),
  delaySpreadMs: standing(
    ms(
      'How much the one-way delay to a provider varies; windows are guarded for this much longer.',
      0,
      10_000,
    ),
    250,
  ),
});

const retry = section('How often an attempt may be repeated before the first visible frame.', {
  maxAttempts: standing(whole('Attempts of one request, the first included.', 'attempts', 1, 20), 4),
  budgetRatio: standing(
    atLeast('Retries for each request, over all requests; 429s are not counted.', 'retries', 0, 1),
    0.1,
  ),
  maxHintMs: standing(
    ms('A provider that asks to wait longer is not waited for: the caller gets its hint at once.'),
    60_000,
  ),
});

const store = section('Where the ledger lives.', {
  kind: standing(oneOf('In this process, or shared by all.', ['memory', 'redis']), 'memory'),
  url: field(z.string().regex(/^rediss?:\/\/\S+$/), 'Where Redis is; with kind redis only.', {
    allowed: 'a redis:// or rediss:// address',
    secret: true,
  }).optional(),
});

/** weir.yaml, whole. Strict everywhere: a field that nobody reads is a fault. */
export const fileSchema = section('Configuration of the Weir gateway.', {
  accounts: field(z.array(account).min(1), 'Credentials at providers.', {
    allowed: 'a list of accounts with at least one entry',
  }),
  routes: routes.optional(),
  teams: field(z.array(team).min(1), 'Who may call.', { allowed: 'a list of teams with at least one entry' }),
  server: server.prefault({}),
  timeouts: timeouts.prefault({}),
  breaker: breaker.prefault({}),
  queue: queue.prefault({}),
  retry: retry.prefault({}),
  store: store.prefault({}),
  disconnect: standing(
    oneOf(
      "What becomes of a provider's answer when its caller leaves: cut, read to its end for its usage, or kept.",
      ['abort', 'drain', 'journal'],
    ),
    'abort',
  ),
});

/** A file that has the right form, with defaults filled in. Cross-checks are still to come. */
export type ConfigFile = z.output<typeof fileSchema>;
