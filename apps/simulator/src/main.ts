import { systemTimers } from '@weir/kernel';
import { startSimulator } from './simulator.module.js';

/** Streams that are open do not keep the process longer than this. */
const CLOSING_MS = 800;
/** Ctrl-C in a terminal reaches the gateway, too: it hangs up first, so that its callers get its ending and not a cut. */
const CALLERS_FIRST_MS = 600;

async function main(): Promise<void> {
  const { SIMULATOR_HOST: host = '127.0.0.1', SIMULATOR_PORT: port = '9400' } = process.env;
  const simulator = await startSimulator({ host, port: Number(port) });
  console.log(`simulator listens on ${simulator.url}`);
  const exit = (): void => process.exit(0);
  const stop = (): void => {
    systemTimers.after(CLOSING_MS, exit);
    void simulator.close().finally(exit);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', () => systemTimers.after(CALLERS_FIRST_MS, stop));
}

main().catch((error: unknown) => {
  console.error(`simulator: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
