import { createServer, type AddressInfo } from 'node:net';
import { callFor } from './call-window.js';
import { startFakeProvider } from './fake-provider.js';
import { LOADS } from './loads.js';

describe('callers and provider of the bench', () => {
  it.each(LOADS.map((load) => [load.name, load] as const))('talk: %s', async (_name, load) => {
    const url = await startFakeProvider();
    const count = await callFor({ url, headers: {} }, { ...load, connections: 3 }, 0.05);
    expect(count).toMatchObject({ bad: 0 });
    expect(count.answers).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ['an error', 'HTTP/1.1 500 No\r\ncontent-length: 3\r\n\r\nabc'],
    ['less than there should be', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc'],
  ])('counts %s as bad', async (_name, answer) => {
    const server = createServer((socket) => socket.on('data', () => socket.end(answer)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [plain] = LOADS;
    const count = await callFor({ url, headers: {} }, { ...plain!, connections: 2 }, 10);
    expect(count).toMatchObject({ answers: 0, bad: 2 });
    server.close();
  });
});
