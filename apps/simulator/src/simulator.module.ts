import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { systemClock, systemTimers } from '@weir/kernel';
import { ControlController } from './control/control.controller.js';
import { parseJson } from './http/json-body.js';
import { ModelApi } from './http/model-api.js';
import { ModelController } from './http/model.controller.js';
import { OpenAiErrorFilter } from './http/openai-error.filter.js';
import { Simulation } from './http/simulation.js';
import { Speaker } from './http/speaker.js';

/** Real time, one simulation, two doors. */
@Module({
  controllers: [ModelController, ControlController],
  providers: [
    { provide: Simulation, useFactory: () => new Simulation(systemClock) },
    {
      provide: ModelApi,
      inject: [Simulation],
      useFactory: (simulation: Simulation) =>
        new ModelApi(simulation, new Speaker(systemClock, systemTimers), systemClock, systemTimers),
    },
  ],
})
export class SimulatorModule {}

/** Where to listen. */
export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 9400; 0 takes a free one. */
  readonly port?: number;
}

/** A simulator that listens. */
export interface RunningSimulator {
  /** Without a path: `http://127.0.0.1:9400`. */
  readonly url: string;
  /** Ends open streams as aborted, and frees the port. */
  close(): Promise<void>;
}

/** What has a parser of its own in Nest, and all the rest. */
const EVERY_BODY = ['application/json', 'application/x-www-form-urlencoded', 'text/plain', '*'];
const BODY_LIMIT_BYTES = 64 * 1024 * 1024;

/** Starts a simulator in this process. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<RunningSimulator> {
  const { host = '127.0.0.1', port = 9400 } = options;
  Logger.overrideLogger(false);
  const adapter = new FastifyAdapter({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  const app = await NestFactory.create<NestFastifyApplication>(SimulatorModule, adapter);
  app.useBodyParser(EVERY_BODY, { bodyLimit: BODY_LIMIT_BYTES }, parseJson);
  app.useGlobalFilters(new OpenAiErrorFilter());
  await app.listen(port, host);
  return { url: (await app.getUrl()).replace('[::1]', '127.0.0.1'), close: () => app.close() };
}
