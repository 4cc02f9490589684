import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { systemClock, systemTimers } from '@weir/kernel';
import { ScriptedUpstream, streamClientContract } from '@weir/testing';
import type { UpstreamRequest } from './stream-client.js';
import { UndiciStreamClient, type UpstreamAccount } from './undici-stream-client.js';

const TIMEOUTS = { connectMs: 5000, headersMs: 5000, firstFrameMs: 5000, idleMs: 5000, totalMs: 20_000 };

function account(changes: Partial<UpstreamAccount>): UpstreamAccount {
  return { id: 'main', baseUrl: '', apiKey: 'key', profile: 'generic', connections: 1, ...changes };
}

const REQUEST: UpstreamRequest = {
  identity: {
    requestId: 'r',
    team: 't',
    model: 'm',
    operation: 'chat',
    template: 'none',
    priority: 'normal',
  },
  target: { account: 'main', model: 'm' },
  attempt: 1,
  path: '/chat/completions',
  body: Buffer.from('{}'),
  stream: false,
  usageInjected: false,
};
const OK = {
  headers: { 'content-type': 'application/json' },
  chunks: ['{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}'],
};

describe('contract', () => {
  streamClientContract(
    ({ timeouts, ...options }) =>
      new UndiciStreamClient(
        [{ id: 'main', profile: 'generic', ...options }],
        timeouts,
        systemClock,
        systemTimers,
      ),
  );
});

describe('undici', () => {
  let upstream: ScriptedUpstream;
  let client: UndiciStreamClient;
  const { signal } = new AbortController();

  beforeEach(async () => {
    upstream = await ScriptedUpstream.start();
  });
  afterEach(async () => {
    await client.close();
    await upstream.stop();
  });

  const start = (changes: Partial<UpstreamAccount>): void => {
    const accounts = [account({ baseUrl: upstream.baseUrl, ...changes })];
    client = new UndiciStreamClient(accounts, TIMEOUTS, systemClock, systemTimers);
  };

  it('makes the client span in the context of its own attempt, also where it had to queue', async () => {
    start({ connections: 1 });
    upstream.script({ silent: true }, OK, OK);
    const context = new AsyncLocalStorage<number>();
    const seen: (number | undefined)[] = [];
    const onCreate = (): void => {
      seen.push(context.getStore());
    };
    channel('undici:request:create').subscribe(onCreate);
    const first = new AbortController();
    const blocked = context.run(1, () => client.open(REQUEST, first.signal));
    await upstream.arrived(1);
    const queued = [2, 3].map((attempt) => context.run(attempt, () => client.open(REQUEST, signal)));
    first.abort(new Error('make room'));
    await expect(blocked).rejects.toThrow('make room');
    await Promise.all(queued);
    channel('undici:request:create').unsubscribe(onCreate);
    expect(seen).toEqual([1, 2, 3]);
  });

  it("keeps the base URL's path and query, and shows the key as the profile wants it", async () => {
    start({ baseUrl: `${upstream.baseUrl}/deployments/d/?api-version=2026-01`, profile: 'azure' });
    upstream.script(OK);
    await client.open(REQUEST, signal);
    expect(upstream.calls[0]?.path).toBe('/v1/deployments/d/chat/completions?api-version=2026-01');
    expect(upstream.calls[0]?.headers['api-key']).toBe('key');
    expect(upstream.calls[0]?.headers.authorization).toBeUndefined();
  });

  it('leaves no listener on the signal', async () => {
    start({});
    upstream.script(OK, { status: 500 });
    const own = new AbortController();
    let listeners = 0;
    const { signal: watched } = own;
    const add = watched.addEventListener.bind(watched);
    const remove = watched.removeEventListener.bind(watched);
    jest.spyOn(watched, 'addEventListener').mockImplementation((...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    });
    jest.spyOn(watched, 'removeEventListener').mockImplementation((...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    });
    const answer = await client.open(REQUEST, watched);
    for await (const _frame of answer.frames);
    await expect(client.open(REQUEST, watched)).rejects.toThrow();
    expect(listeners).toBe(0);
  });

  it('refuses an account that it does not know', async () => {
    start({});
    const stray = { ...REQUEST, target: { account: 'other', model: 'm' } };
    await expect(client.open(stray, signal)).rejects.toMatchObject({ code: 'internal' });
  });
});
