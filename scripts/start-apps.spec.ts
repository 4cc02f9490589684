import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The first of README's two commands, with the real apps: built from this tree, asked, and ended as by Ctrl-C. */
describe('npm start, for real', () => {
  let child: ChildProcess | undefined;

  afterAll(() => {
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL');
    }
  });

  it('builds, answers a stream and a plain call by its own curl line, counts where it must, and ends on Ctrl-C', async () => {
    const env = { ...process.env, WEIR_PORT: '0', SIMULATOR_PORT: '0' };
    child = spawn('npm', ['start'], { cwd: join(__dirname, '..'), env, detached: true });
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const ended = once(child, 'close');
    const curl = await Promise.race([lineOf(child, () => printed), ended.then(() => undefined)]);
    if (curl === undefined) throw new Error(`npm start ended early:\n${printed}`);

    const url = /(http:\S+\/v1\/chat\/completions)/.exec(curl)?.[1] ?? '';
    const body = /-d '([^']+)'/.exec(curl)?.[1] ?? '';
    const ask = (text: string) =>
      fetch(url, { method: 'POST', headers: { authorization: 'Bearer dev' }, body: text });

    const stream = await ask(body);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(await stream.text()).toMatch(/"content":[\s\S]*data: \[DONE\]\n\n$/);

    const plain = await ask(body.replace('"stream":true,', ''));
    const answer = (await plain.json()) as { choices: { message: { content: string } }[] };
    expect(answer.choices[0]?.message.content).not.toBe('');

    // Fits by its estimate and not by its count, so the built thread has counted.
    const dense = {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '1;'.repeat(600_000) }],
      max_tokens: 93,
    };
    expect(await (await ask(JSON.stringify(dense))).text()).toContain('needs 1200100 tokens');

    process.kill(-(child.pid ?? NaN), 'SIGINT');
    await ended;
    expect(isGroupAlive(child.pid)).toBe(false);
  }, 240_000);
});

function lineOf(child: ChildProcess, printed: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.stdout?.on('data', () => {
      const line = /curl -N .*'\n/.exec(printed())?.[0];
      if (line !== undefined) resolve(line);
    });
  });
}

function isGroupAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(-pid, 0);
  } catch {
    return false;
  }
}
