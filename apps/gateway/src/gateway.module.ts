import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { GatewayConfig } from '@weir/config';
import type { Clock, Random, Timers } from '@weir/kernel';
import {
  Limiter,
  PacedLimiter,
  TokenCounter,
  TokenEstimator,
  WorkerTokenCounter,
  type CountTrouble,
} from '@weir/limiter';
import { AttemptLoop } from '@weir/retry';
import type { Logger, Telemetry } from '@weir/telemetry';
import { observeQuota, profileOf, StreamClient, UndiciStreamClient } from '@weir/upstream';
import { AdminDirectory } from './access/admin.guard.js';
import { TeamDirectory } from './access/team-directory.js';
import type { TeamHolder } from './access/team.guard.js';
import { StatusController } from './admin/status.controller.js';
import { CallReader } from './chat/call-reader.js';
import { ChatPipeline } from './chat/chat-pipeline.js';
import { ChatController } from './chat/chat.controller.js';
import { Departure } from './chat/departure.js';
import { EarlyOpen } from './chat/early-open.js';
import { ExactCost } from './chat/exact-cost.js';
import { MidStream } from './chat/mid-stream/mid-stream.js';
import { Router } from './chat/routing/router.js';
import { TargetHealth } from './chat/routing/target-health.js';
import { Settlement, type ReadQuota } from './chat/settlement.js';
import { EmbeddingsController } from './embeddings/embeddings.controller.js';
import { FailureLog } from './delivery/failure-log.js';
import { GatewayErrorFilter } from './delivery/gateway-error.filter.js';
import { OpenAnswers } from './delivery/open-answers.js';
import { RequestSpans } from './delivery/request-spans.js';
import { Drain } from './health/drain.js';
import { HealthController } from './health/health.controller.js';
import { MetricsController, MetricsText } from './metrics/metrics.controller.js';
import { ModelList } from './models/model-list.js';
import { ModelsController } from './models/models.controller.js';
import { buildLimiter } from './wiring/build-limiter.js';
import { targetsOf } from './wiring/dimensions.js';
import { presumedOutput } from './wiring/presumed-output.js';
import { midStreamPolicies } from './wiring/mid-stream-policies.js';
import { RouteRooms } from './wiring/route-rooms.js';

/** Where the configuration in force is found; a reload changes it for whoever asks next. */
export interface ConfigInForce {
  readonly current: GatewayConfig;
}

/** What the process gives to the house. */
export interface Surroundings {
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly time: Clock & Timers;
  readonly random: Random;
}

/** The only composition root: every port is bound to its adapter here, once. Every provider is a singleton. */
@Module({})
export class GatewayModule {
  static forRoot(live: ConfigInForce, surroundings: Surroundings): DynamicModule {
    const config = live.current;
    return {
      module: GatewayModule,
      controllers: [
        ...[ChatController, EmbeddingsController, ModelsController],
        ...[HealthController, MetricsController, StatusController],
      ],
      providers: [
        ...limiterProviders(live, surroundings),
        streamClientProvider(config, surroundings),
        ...routingProviders(live, surroundings),
        ...countingProviders(config, surroundings),
        ...chatProviders(live, surroundings),
        pipelineProvider(live, surroundings),
        ...doors(live, surroundings),
        { provide: APP_FILTER, useClass: GatewayErrorFilter },
      ],
    };
  }
}

/** How much may leave, in what order: as itself, for what only a process does with it, and traced, for everybody. */
function limiterProviders(live: ConfigInForce, surroundings: Surroundings): readonly Provider[] {
  return [
    { provide: PacedLimiter, useFactory: () => buildLimiter(live, surroundings) },
    {
      provide: Limiter,
      useFactory: (limiter: PacedLimiter) => surroundings.telemetry.limiter(limiter),
      inject: [PacedLimiter],
    },
  ];
}

/** The way out. */
function streamClientProvider(
  { accounts, timeouts }: GatewayConfig,
  { telemetry, time }: Surroundings,
): Provider {
  const lines = accounts.map(({ id, baseUrl, apiKey, profile, concurrency }) => ({
    id,
    baseUrl,
    apiKey: apiKey.reveal(),
    profile,
    connections: concurrency,
  }));
  return {
    provide: StreamClient,
    useFactory: () => telemetry.streamClient(new UndiciStreamClient(lines, timeouts, time, time)),
  };
}

/** Where requests go, and which targets may be called. */
function routingProviders(
  live: ConfigInForce,
  { telemetry, logger, time, random }: Surroundings,
): readonly Provider[] {
  const { breaker } = live.current;
  const rules = {
    breaker,
    targets: targetsOf(live.current),
    concurrency: (account: string) => live.current.accounts.find(({ id }) => id === account)?.concurrency,
    version: () => live.current,
  };
  return [
    {
      provide: TargetHealth,
      useFactory: (limiter: Limiter) => {
        const health = new TargetHealth({ rules, limiter, time, random, logger });
        telemetry.health(() => ({ breakers: health.breakers(), parked: health.parkedAccounts() }));
        return health;
      },
      inject: [Limiter],
    },
    {
      provide: Router,
      useFactory: (limiter: Limiter, health: TargetHealth) => new Router({ limiter, health, time }),
      inject: [Limiter, TargetHealth],
    },
  ];
}

/** Who counts what must not be guessed, in a thread that exists only while there is something to count. */
function countingProviders({ accounts }: GatewayConfig, { logger, time }: Surroundings): readonly Provider[] {
  const guessing = accounts.filter(({ profile }) => profileOf(profile).guessesInput);
  const guessesInput = new Set(guessing.map(({ id }) => id));
  const onTrouble = (reason: CountTrouble): void => {
    logger.warn('tokens estimated instead of counted', { reason });
  };
  return [
    { provide: TokenCounter, useFactory: () => new WorkerTokenCounter({ time, onTrouble }) },
    {
      provide: ExactCost,
      useFactory: (counter: TokenCounter, estimator: TokenEstimator) =>
        new ExactCost(counter, estimator, time, (account) => guessesInput.has(account)),
      inject: [TokenCounter, TokenEstimator],
    },
  ];
}

/** The request path, and the pipeline where the rooms meet. */
function chatProviders(live: ConfigInForce, { telemetry, time, random }: Surroundings): readonly Provider[] {
  const profiles = new Map(live.current.accounts.map(({ id, profile }) => [id, profileOf(profile)]));
  const rooms = new RouteRooms(live);
  const rules = {
    routes: () => live.current.routes,
    maxWaitMs: () => live.current.queue.maxWaitMs,
    books: (account: string) => profiles.get(account)?.books ?? 'prompt_and_max',
    room: (team: string, model: string) => rooms.of(team, model),
  };
  const readQuota: ReadQuota = (account, headers) => {
    const profile = profiles.get(account);
    return profile === undefined ? {} : observeQuota(profile, headers);
  };
  return [
    {
      provide: TokenEstimator,
      useFactory: () => new TokenEstimator({ defaultOutput: presumedOutput(live.current) }),
    },
    {
      provide: AttemptLoop,
      useFactory: () => new AttemptLoop(live.current.retry, time, random, telemetry.retryObserver()),
    },
    {
      provide: CallReader,
      useFactory: (estimator: TokenEstimator) => new CallReader(rules, estimator, time),
      inject: [TokenEstimator],
    },
    {
      provide: Settlement,
      useFactory: (limiter: Limiter, estimator: TokenEstimator) =>
        new Settlement(limiter, estimator, readQuota),
      inject: [Limiter, TokenEstimator],
    },
  ];
}

/** The pipeline, where the rooms meet. */
function pipelineProvider(live: ConfigInForce, { time }: Surroundings): Provider {
  const { accounts } = live.current;
  const asked = accounts.filter(({ profile }) => profileOf(profile).acceptsIncludeUsage);
  const reportsUsage = new Set(asked.map(({ id }) => id));
  const earlyOpen = new EarlyOpen(() => live.current.server.earlyOpenAfterMs, time);
  const midStream = new MidStream(midStreamPolicies(live.current), time);
  return {
    provide: ChatPipeline,
    useFactory: (
      ...[limiter, exactCost, attempts, router, client, settlement]: [
        Limiter,
        ExactCost,
        AttemptLoop,
        Router,
        StreamClient,
        Settlement,
      ]
    ) =>
      new ChatPipeline({
        ...{ limiter, exactCost, attempts, router, client, settlement },
        ...{ reportsUsage, earlyOpen, midStream },
        departure: new Departure(limiter, time),
      }),
    inject: [Limiter, ExactCost, AttemptLoop, Router, StreamClient, Settlement],
  };
}

/** Who may come in, what is open, and how it is seen. */
function doors(live: ConfigInForce, { telemetry, logger, time }: Surroundings): readonly Provider[] {
  return [
    OpenAnswers,
    {
      provide: Drain,
      useFactory: (answers: OpenAnswers, limiter: Limiter, health: TargetHealth) =>
        new Drain(answers, time, () => {
          limiter.drain();
          health.close();
        }),
      inject: [OpenAnswers, Limiter, TargetHealth],
    },
    {
      provide: TeamDirectory,
      useFactory: () => new TeamDirectory<TeamHolder>(() => live.current.teams),
    },
    {
      provide: ModelList,
      useFactory: () => new ModelList(() => live.current.routes, Math.floor(time.epochNow() / 1000)),
    },
    { provide: AdminDirectory, useFactory: () => new TeamDirectory(() => [live.current.admin], 'admin') },
    { provide: RequestSpans, useValue: telemetry satisfies RequestSpans },
    { provide: MetricsText, useValue: telemetry satisfies MetricsText },
    {
      provide: FailureLog,
      useValue: {
        unexpected: (requestId, thrown) => {
          logger.error('unexpected', thrown, { request_id: requestId });
        },
      } satisfies FailureLog,
    },
  ];
}
