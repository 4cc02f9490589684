/**
 * Loaded into Portkey 1.15.2, whose streams fail as installed (`TypeError: immutable`, 2026-11): it appends to the headers
 * of fetch's own answer, which cannot be changed. Streams get headers that can be; plain answers stay as they came.
 */
const fetched = globalThis.fetch;

globalThis.fetch = async (...call) => {
  const answer = await fetched(...call);
  const { status, statusText, headers, body } = answer;
  if (!headers.get('content-type')?.includes('event-stream')) return answer;
  return new globalThis.Response(body, { status, statusText, headers: new globalThis.Headers(headers) });
};
