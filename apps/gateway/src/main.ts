import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { readFileSync, watchFile } from 'node:fs';
import { hostname } from 'node:os';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConfigFaults, loadConfig, NOT_BUILT_YET, type Fault, type GatewayConfig } from '@weir/config';
import { systemClock, systemRandom, systemTimers, type Milliseconds } from '@weir/kernel';
import { Limiter, PacedLimiter, TokenCounter } from '@weir/limiter';
import { createLogger, startTelemetry, type Logger } from '@weir/telemetry';
import { StreamClient } from '@weir/upstream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerBrokenRequest, answerForNode, brokenPath, missingHost } from './delivery/broken-request.js';
import { GatewayModule, type ConfigInForce, type Surroundings } from './gateway.module.js';
import { Drain } from './health/drain.js';
import { labelsOf } from './wiring/labels.js';
import { LimiterMemory, stateFileFaults } from './wiring/limiter-memory.js';
import { LiveConfig } from './wiring/live-config.js';
import { telemetrySettings, type TelemetrySettings } from './wiring/telemetry-settings.js';

/** A gateway that listens. */
export interface RunningGateway {
  /** Where, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly app: NestFastifyApplication;
  /**
   * Refuses new work, lets running streams end, closes everything, flushes telemetry.
   * @param drainMs the longest that running streams may go on
   * @param flushMs the longest that telemetry may take; its own default where left out
   */
  stop(drainMs: Milliseconds, flushMs?: Milliseconds): Promise<void>;
}

/** What a developer who presses Ctrl-C is ready to wait for running streams. */
const INTERRUPT_DRAIN_MS: Milliseconds = 300;
/** The same for a collector that does not answer: 2 s in all. */
const INTERRUPT_FLUSH_MS: Milliseconds = 500;
/** How often a changed configuration file is looked for. */
const WATCH_MS: Milliseconds = 2000;
/** The longest that a caller may take to send its request: Fastify sets no limit of its own, so a trickle would hold a socket for ever. */
const REQUEST_MS: Milliseconds = 120_000;
/** The longest that requests whose sockets were closed may take to learn of it. */
const CUT_MS: Milliseconds = 500;
/** Closing and flushing after the drain takes at most this; then the process ends whatever is still open. */
const END_MS: Milliseconds = 6000;

/**
 * Builds the house and opens its door.
 * @param memory where the limiter's past is kept over a planned restart; without it the last window counts as used
 */
export async function startGateway(
  live: ConfigInForce,
  surroundings: Surroundings,
  memory?: LimiterMemory,
): Promise<RunningGateway> {
  const { server } = live.current;
  const adapter = adapterFor(server);
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot(live, surroundings),
    adapter,
    { bodyParser: false, logger: ['error', 'fatal'], abortOnError: false },
  );
  const fastify = adapter.getInstance();
  answerForNode(fastify.server);
  surroundings.telemetry.serverSpans(fastify);
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done(missingHost(request.raw));
  });
  // Bodies stay bytes: what the caller wrote is what the provider gets.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  await app.init();
  memory?.recall(app.get(PacedLimiter));
  const url = await listen(fastify, server);
  const stop = async (drainMs: Milliseconds, flushMs?: Milliseconds): Promise<void> => {
    await app.get(Drain).begin(drainMs);
    memory?.keep(app.get(PacedLimiter));
    await app.close();
    // A server is closed before its sockets tell so. Whom that cuts is counted for it, and not as failed by a provider.
    await app.get(Drain).begin(CUT_MS);
    await app.get<StreamClient>(StreamClient).close();
    await app.get<TokenCounter>(TokenCounter).close();
    await surroundings.telemetry.shutdown(flushMs);
  };
  return { url, app, stop };
}

/** Everything that HTTP itself refuses is answered in the shape of every other error. */
function adapterFor(server: GatewayConfig['server']): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: server.bodyLimitBytes,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerBrokenPath,
    http: { requireHostHeader: false },
    requestTimeout: REQUEST_MS,
  });
}

function answerBrokenPath(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const { status, headers, body } = brokenPath();
  void reply
    .status(status)
    .headers({ ...headers, 'x-request-id': request.id })
    .send(body);
}

/** Fastify's own `listen`, because Nest's writes a stack trace before it rejects. */
async function listen(fastify: FastifyInstance, { host, port }: GatewayConfig['server']): Promise<string> {
  try {
    return await fastify.listen({ host, port });
  } catch (cause) {
    const taken = isErrno(cause) && cause.code === 'EADDRINUSE';
    const reason = taken
      ? 'the port is taken'
      : cause instanceof Error
        ? cause.message
        : 'no reason is known';
    const advice = 'WEIR_HOST and WEIR_PORT choose another address.';
    throw new Error(`Cannot listen on ${host}:${port}: ${reason}. ${advice}`, { cause });
  }
}

function isErrno(thrown: unknown): thrown is NodeJS.ErrnoException {
  return typeof thrown === 'object' && thrown !== null && 'code' in thrown;
}

/** The process: environment in, signals, exit code out. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const { settings, faults } = telemetrySettings(env);
  const logger = createLogger({ service: 'weir-gateway', level: settings.logLevel });
  const stateFile = env['WEIR_STATE_FILE'];
  const live = readConfig(env, [...faults, ...stateFileFaults(stateFile)], logger);
  if (live === undefined) {
    process.exitCode = 1;
    return;
  }
  const { server, source } = live.current;
  const surroundings = surroundingsOf(live.current, settings, logger);
  const memory = stateFile ? new LimiterMemory(stateFile, logger) : undefined;
  const gateway = await startGateway(live, surroundings, memory);
  logger.info('listening', { url: gateway.url, config: source });
  process.on('unhandledRejection', (thrown) => {
    logger.error('unexpected', thrown);
  });
  const reload = (): void => {
    live.reload({ limiter: gateway.app.get<Limiter>(Limiter), ...surroundings });
  };
  process.on('SIGHUP', reload);
  // Polled by name, not by inode: editors and Kubernetes replace the file.
  if (env['WEIR_CONFIG']) watchFile(source, { interval: WATCH_MS, persistent: false }, reload);
  endOnSignal(gateway, server.drainMs, logger);
}

/** The first signal decides; a terminal's Ctrl-C may come twice, from it and from the parent. */
function endOnSignal(gateway: RunningGateway, drainMs: Milliseconds, logger: Logger): void {
  let ending = false;
  const end = (signal: string, limitMs: Milliseconds, flushMs?: Milliseconds): void => {
    if (ending) return;
    ending = true;
    logger.info('draining', { signal, drain_ms: limitMs });
    systemTimers.after(limitMs + END_MS, () => process.exit(1));
    void gateway.stop(limitMs, flushMs).then(() => process.exit(0));
  };
  process.on('SIGTERM', () => {
    end('SIGTERM', drainMs);
  });
  process.on('SIGINT', () => {
    end('SIGINT', Math.min(INTERRUPT_DRAIN_MS, drainMs), INTERRUPT_FLUSH_MS);
  });
}

/** @param environmentFaults what is wrong with variables that are no affair of the configuration's; named with the rest */
function readConfig(
  env: NodeJS.ProcessEnv,
  environmentFaults: readonly Fault[],
  logger: Logger,
): LiveConfig | undefined {
  try {
    const live = new LiveConfig(() =>
      loadConfig(env, (path) => readFileSync(path, 'utf8'), {
        unsupported: NOT_BUILT_YET,
        environmentFaults,
      }),
    );
    for (const notice of live.current.notices) logger.warn('configuration', { notice });
    return live;
  } catch (thrown) {
    if (!(thrown instanceof ConfigFaults)) throw thrown;
    console.error(thrown.message);
    return undefined;
  }
}

function surroundingsOf(
  config: GatewayConfig,
  { mode, service, endpoint, exportRatio }: TelemetrySettings,
  logger: Logger,
): Surroundings {
  return {
    telemetry: startTelemetry({
      mode,
      service: { ...service, instance: `${hostname()}:${process.pid}` },
      labels: labelsOf(config),
      ...(endpoint === undefined ? {} : { endpoint }),
      exportRatio,
      logger,
    }),
    logger,
    time: { ...systemClock, ...systemTimers },
    random: systemRandom,
  };
}

if (require.main === module) {
  main(process.env).catch((thrown: unknown) => {
    console.error(thrown instanceof Error ? thrown.message : thrown);
    process.exit(1);
  });
}
