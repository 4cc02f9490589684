import { Controller, Get, Inject, Param, UseGuards } from '@nestjs/common';
import { TeamGuard } from '../access/team.guard.js';
import { ModelList, type Model } from './model-list.js';

/** The names that callers may use as `model`: those of the routes, which hide accounts and providers. */
@Controller('v1')
@UseGuards(TeamGuard)
export class ModelsController {
  constructor(@Inject(ModelList) private readonly list: ModelList) {}

  /** All of them, as the routes are now. */
  @Get('models')
  models(): { object: 'list'; data: readonly Model[] } {
    return { object: 'list', data: this.list.all() };
  }

  /** A wildcard, because names may hold slashes. */
  @Get('models/*')
  model(@Param('*') id: string): Model {
    return this.list.named(id);
  }
}
