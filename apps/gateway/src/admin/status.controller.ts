import { Controller, Get, Inject, UseGuards } from '@nestjs/common';
import { Limiter, type LimiterStatus } from '@weir/limiter';
import { AdminGuard } from '../access/admin.guard.js';
import {
  isBreakerDimension,
  TargetHealth,
  type BreakerStatus,
  type ParkedStatus,
} from '../chat/routing/target-health.js';
import { OpenAnswers } from '../delivery/open-answers.js';
import { Drain } from '../health/drain.js';

/** Everything that an operator may want to know, at one instant. */
export interface GatewayStatus {
  readonly version: 1;
  readonly draining: boolean;
  /** Requests in the house, waiting or running, and the bytes held in user space for them. */
  readonly answers: { readonly open: number; readonly bufferedBytes: number };
  readonly limiter: LimiterStatus;
  /** Every model of every account. */
  readonly breakers: readonly BreakerStatus[];
  /** Credentials that are not called. */
  readonly parked: readonly ParkedStatus[];
}

/** What an operator asks first. */
@Controller('admin/v1')
@UseGuards(AdminGuard)
export class StatusController {
  constructor(
    @Inject(Limiter) private readonly limiter: Limiter,
    @Inject(OpenAnswers) private readonly answers: OpenAnswers,
    @Inject(Drain) private readonly drain: Drain,
    @Inject(TargetHealth) private readonly health: TargetHealth,
  ) {}

  /** Never waits, and changes nothing. */
  @Get('status')
  status(): GatewayStatus {
    return {
      version: 1,
      draining: this.drain.draining,
      answers: { open: this.answers.count, bufferedBytes: this.answers.bufferedBytes },
      limiter: this.withoutGates(this.limiter.status()),
      breakers: this.health.breakers(),
      parked: this.health.parkedAccounts(),
    };
  }

  /** A breaker's gate is no limit of anybody: its state is told as such. */
  private withoutGates(status: LimiterStatus): LimiterStatus {
    return { ...status, dimensions: status.dimensions.filter(({ id }) => !isBreakerDimension(id)) };
  }
}
