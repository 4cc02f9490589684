import { Controller, HttpException, Module, Post, Sse, type MessageEvent } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { from, throwError, timer, type Observable } from 'rxjs';
import { mergeMap } from 'rxjs/operators';

/** Why delivery is our own (docs/decisions/0004): when one of these fails, the decision can be looked at again. */

@Controller()
class SseController {
  @Post('limited')
  @Sse()
  limited(): Observable<MessageEvent> {
    return timer(50).pipe(mergeMap(() => throwError(() => new HttpException('slow down', 429))));
  }
}

@Module({ controllers: [SseController] })
class SseModule {}

describe("Nest's @Sse()", () => {
  let app: NestFastifyApplication;

  beforeAll(async () => {
    app = await NestFactory.create<NestFastifyApplication>(SseModule, new FastifyAdapter(), {
      logger: false,
    });
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  it('cannot answer 429 to an error before the first frame', async () => {
    const answer = await fetch(`${await app.getUrl()}/limited`, { method: 'POST' });
    await answer.text();
    expect(answer.status).not.toBe(429);
  });
});

describe("RxJS's from(asyncIterable)", () => {
  it('does not release a silent source when its subscriber leaves', async () => {
    let released = false;
    const silent: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<number>>(() => undefined),
        return: async () => {
          released = true;
          return { done: true, value: undefined };
        },
      }),
    };
    from(silent).subscribe().unsubscribe();
    await new Promise((resolve) => setImmediate(resolve));
    expect(released).toBe(false);
  });
});
