import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../../..');

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The gateway as a process of its own, run from its source. */
export class GatewayProcess {
  readonly exited: Promise<Exit>;
  output = '';
  private readonly waiters: (() => void)[] = [];
  private readonly folder: string;
  private readonly child: ChildProcess;

  /** @param config content of its `weir.yaml`; none where left out */
  constructor(env: Readonly<Record<string, string>>, config?: object | string) {
    this.folder = mkdtempSync(join(tmpdir(), 'weir-e2e-'));
    const path = join(this.folder, 'weir.yaml');
    if (config !== undefined)
      writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config));
    this.child = spawn(process.execPath, ['--import', 'tsx', 'apps/gateway/src/main.ts'], {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        WEIR_PORT: '0',
        ...(config === undefined ? {} : { WEIR_CONFIG: path }),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        for (const wake of this.waiters.splice(0)) wake();
      });
    }
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve({ code, signal });
        for (const wake of this.waiters.splice(0)) wake();
      });
    });
  }

  /** Where it listens. */
  async url(): Promise<string> {
    await this.said(/"event":"listening"/);
    const found = /"url":"(http:[^"]+)"/.exec(this.output)?.[1];
    if (found === undefined) throw new Error(`it does not say where it listens:\n${this.output}`);
    return found;
  }

  /** Settles once it wrote something like that; rejects when it ends before. */
  async said(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.output)) {
      if (this.child.exitCode !== null)
        throw new Error(`it ended with ${this.child.exitCode}:\n${this.output}`);
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async dispose(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Takes what is exported to it, and keeps the paths and the bytes. */
export class OtlpReceiver {
  private constructor(
    readonly url: string,
    readonly bodies: Map<string, Buffer[]>,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<OtlpReceiver> {
    const bodies = new Map<string, Buffer[]>();
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const path = request.url ?? '';
        bodies.set(path, [...(bodies.get(path) ?? []), Buffer.concat(chunks)]);
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new OtlpReceiver(`http://127.0.0.1:${port}`, bodies, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  /** Everything that came under a path; names are plain text in protobuf. */
  text(path: string): string {
    return Buffer.concat(this.bodies.get(path) ?? []).toString('latin1');
  }
}
