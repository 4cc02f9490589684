import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes everything that OTLP sends, and thanks for it. */
export function startTraceSink(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': 0 });
      response.end();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
