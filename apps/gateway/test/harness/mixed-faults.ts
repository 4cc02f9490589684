/** 429s that nobody deserved: with a hint, and without. */
export const THROTTLES = [{ 'retry-after-ms': '40' }, {}].map((headers) => ({
  times: 3,
  status: 429,
  headers,
  body: { error: { message: 'Rate limit reached on requests per min.', type: 'requests' } },
}));

/** Whatever else may go wrong at a provider. */
export const FAULTS = [
  { times: 4, status: 500 },
  { times: 3, status: 503, headers: { 'retry-after-ms': '10' } },
  { times: 2, status: 529 },
  { times: 2, status: 400, body: { error: { message: 'no', type: 'invalid_request_error' } } },
  { times: 1, html: true },
  { times: 4, cutAtByte: 10 },
  { times: 4, cutAtByte: 900 },
  { times: 4, cutAtByte: 2_000 },
  { times: 3, resetAfterHeaders: true },
  { times: 4, errorAtFrame: { frame: 1, body: { error: { message: 'overloaded', code: 500 } } } },
  { times: 4, errorAtFrame: { frame: 6, body: { error: { message: 'overloaded', code: 500 } } } },
  { times: 4, stallAtFrame: { frame: 5, ms: 30 } },
  { times: 2, dripBytesPerSecond: 20_000 },
];
