import { z } from 'zod';
import { PROFILE_NAMES } from '../profiles/profile.js';
import type { Json } from '../provider/faults.js';

const count = z.int().nonnegative();
const positive = z.number().positive();
const limit = count.nullable().exactOptional();
const json: z.ZodType<Json> = z.json();
/** Names in lower case, so that a script's header replaces the one of the same name. */
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/)
  .toLowerCase();
const headerValue = z
  .union([z.string(), z.number(), z.boolean()])
  .transform(String)
  .pipe(z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/));

/** `bucket(8)` and `quantum(1)` say the same as `{bucket: 8}` and `{quantum: 1}`. */
function spokenShape(value: unknown): unknown {
  const [, name, size] =
    typeof value === 'string' ? (/^(bucket|quantum|fixed)\((.+)\)$/.exec(value) ?? []) : [];
  return name === undefined ? value : { [name]: Number(size) };
}

const shape = z.union(
  [
    z.enum(['sliding', 'fixed']),
    z.strictObject({ fixed: z.number() }),
    z.strictObject({ bucket: positive }),
    z.strictObject({ quantum: positive }),
  ],
  {
    error:
      'must be "sliding", "fixed", {"fixed": phase seconds}, {"bucket": requests} or {"quantum": seconds}',
  },
);

/** The body of `PUT /_sim/quota`. A limit of null is no limit. */
export const QuotaInput = z.strictObject({
  version: z.literal(1).exactOptional(),
  key: z.string().min(1).exactOptional(),
  model: z.string().min(1).exactOptional(),
  requestsPerMinute: limit,
  tokensPerMinute: limit,
  concurrency: limit,
  requestsPerDay: limit,
  shape: z.preprocess(spokenShape, shape).exactOptional(),
  windowSeconds: positive.exactOptional(),
  charges: z.enum(['reserved', 'produced']).exactOptional(),
  countsRejected: z.boolean().exactOptional(),
});

const frame = z.int().positive();

/** One element of `faults`. */
const FaultInput = z.strictObject({
  times: z.int().positive().default(1),
  model: z.string().min(1).exactOptional(),
  key: z.string().min(1).exactOptional(),
  status: z.int().min(200).max(599).exactOptional(),
  headers: z.record(headerName, headerValue).exactOptional(),
  body: json.exactOptional(),
  errorAtFrame: z.strictObject({ frame, body: json }).exactOptional(),
  cutAtByte: count.exactOptional(),
  stallAtFrame: z.strictObject({ frame, ms: z.number().nonnegative() }).exactOptional(),
  dripBytesPerSecond: positive.exactOptional(),
  resetAfterHeaders: z.boolean().exactOptional(),
  html: z.union([z.boolean(), z.string()]).exactOptional(),
});

/** The body of `POST /_sim/faults`. */
export const FaultsInput = z.strictObject({
  version: z.literal(1).exactOptional(),
  faults: z.array(FaultInput),
});

/** The body of `PUT /_sim/behaviour`. */
export const BehaviourInput = z.strictObject({
  version: z.literal(1).exactOptional(),
  seed: z.int().exactOptional(),
  firstTokenMs: z.number().nonnegative().exactOptional(),
  tokensPerSecond: z.number().nonnegative().exactOptional(),
  frames: frame.nullable().exactOptional(),
  frameBytes: frame.exactOptional(),
  profile: z.enum(PROFILE_NAMES).exactOptional(),
  diverge: z.boolean().exactOptional(),
  usage: z.enum(['final', 'none']).exactOptional(),
});
