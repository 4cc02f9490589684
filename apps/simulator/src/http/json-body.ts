/** A body that is not JSON; the framework answers with its status. */
export class BrokenJson extends Error {
  override readonly name = 'BrokenJson';
  readonly statusCode = 400;
}

/** The body as JSON whatever its content type claims; an empty one is undefined. */
export async function parseJson(_request: unknown, body: Buffer): Promise<unknown> {
  const text = body.toString('utf8');
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BrokenJson('The body is not valid JSON. Check its quotes, commas and brackets.', { cause });
  }
}
