/**
 * A number that says what it counts. The brand is optional, so literals pass,
 * but a `Tokens` is not accepted where `Milliseconds` are asked for.
 */
type Unit<Name extends string> = number & { readonly __unit?: Name };

/** A duration, or a point on a monotonic clock, in milliseconds. Fractions are allowed. */
export type Milliseconds = Unit<'ms'>;

/** A point in civil time, in milliseconds since 1970-01-01 UTC. */
export type EpochMilliseconds = Unit<'epoch-ms'>;

/** LLM tokens, counted or estimated. Never negative. */
export type Tokens = Unit<'tokens'>;
