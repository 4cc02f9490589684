import { startSimulator } from './simulator.module.js';

async function main(): Promise<void> {
  const { SIMULATOR_HOST: host = '127.0.0.1', SIMULATOR_PORT: port = '9400' } = process.env;
  const simulator = await startSimulator({ host, port: Number(port) });
  console.log(`simulator listens on ${simulator.url}`);
  const stop = (): void => {
    void simulator.close().finally(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

void main();
