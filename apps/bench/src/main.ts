/**
 * The bench's only door: `npm run demo` and `npm run bench -- pacing|limiter|gateway` come in here, and so do the processes
 * that they start. Each command loads what it needs and nothing else.
 */
type Command = (options: readonly string[]) => Promise<boolean>;

/** A command says whether everything held that it judges. */
const COMMANDS: Readonly<Record<string, Command>> = {
  demo: async () => (await import('./demo/demo.js')).demo(),
  pacing: async (options) =>
    options.includes('--live')
      ? (await import('./live/live.js')).live(options)
      : (await import('./pacing/pacing.js')).pacing(options),
  limiter: async (options) => (await import('./limiter/limiter-bench.js')).limiterBench(options),
  gateway: async (options) => (await import('./gateway/gateway-bench.js')).gatewayBench(options),
};

/** Processes that the commands start. */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  'demo-caller': async () => (await import('./demo/caller.js')).callerProcess(),
  'pacing-worker': async () => (await import('./pacing/lanes.js')).workerProcess(),
  'limiter-cell': async () => (await import('./limiter/cell.js')).cellProcess(),
  'gateway-part': async () => (await import('./gateway/part.js')).partProcess(),
};

async function main([name = '', ...options]: readonly string[]): Promise<void> {
  const part = PARTS[name];
  if (part) return part();
  const command = COMMANDS[name];
  if (!command) {
    console.error(`What is to be measured? One of: ${Object.keys(COMMANDS).join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  if (!(await command(options))) process.exitCode = 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

void main(process.argv.slice(2));
