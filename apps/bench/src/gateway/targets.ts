import type { Door } from './call-window.js';
import { portkeyHeaders, startPortkey } from './portkey-server.js';
import { startPart, type ServerProcess } from './server-process.js';
import { startWeir, WEIR_HEADERS, type TelemetrySetting } from './weir-server.js';

/** Who is measured, in the order of the tables. */
export const TARGETS = [
  'direct',
  'Node byte proxy',
  'Weir, telemetry off',
  'Weir, 10 % exported',
  'Weir, all exported',
  'Portkey',
] as const;

export type TargetName = (typeof TARGETS)[number];

/** A server that callers can be sent to, and whose CPU can be read. */
export interface Target {
  readonly name: TargetName;
  readonly door: Door;
  readonly pid: number;
}

/** Everybody, running side by side. */
export interface Field {
  readonly targets: readonly Target[];
  /** Where the gateway is that exports everything. */
  readonly exporter: string;
  stop(): Promise<void>;
}

/** Starts everybody. The provider and the sink stand beside the callers, each of the others on the core of the measured. */
export async function startField(): Promise<Field> {
  const processes: ServerProcess[] = [];
  const kept = async (starting: Promise<ServerProcess>): Promise<ServerProcess> => {
    const started = await starting;
    processes.push(started);
    return started;
  };
  const provider = await kept(startPart({ part: 'provider' }, 'other'));
  const sink = await kept(startPart({ part: 'sink' }, 'other'));
  const exporting = (exportRatio: number): TelemetrySetting => ({ exportRatio, sink: sink.url });
  const { url } = provider;
  const proxy = await kept(startPart({ part: 'proxy', provider: url }, 'server'));
  const off = await kept(startWeir(url, 'off'));
  const tenth = await kept(startWeir(url, exporting(0.1)));
  const all = await kept(startWeir(url, exporting(1)));
  const portkey = await kept(startPortkey());
  const target = (name: TargetName, server: ServerProcess, headers: Door['headers'] = {}): Target => ({
    name,
    door: { url: server.url, headers },
    pid: server.pid,
  });
  return {
    targets: [
      target('direct', provider),
      target('Node byte proxy', proxy),
      target('Weir, telemetry off', off, WEIR_HEADERS),
      target('Weir, 10 % exported', tenth, WEIR_HEADERS),
      target('Weir, all exported', all, WEIR_HEADERS),
      target('Portkey', portkey, portkeyHeaders(url)),
    ],
    exporter: all.url,
    stop: async () => {
      await Promise.all(processes.map((server) => server.stop()));
    },
  };
}
