import { Body, Controller, Delete, Get, HttpCode, Inject, Post, Put } from '@nestjs/common';
import { Simulation } from '../http/simulation.js';
import { BehaviourInput, FaultsInput, QuotaInput } from './control-input.js';
import { decode } from './invalid-input.js';

/** The judge's desk: reads the ledger, sets quotas, behaviour and faults. Every answer says `version: 1`. */
@Controller('_sim')
export class ControlController {
  constructor(@Inject(Simulation) private readonly simulation: Simulation) {}

  @Get('ledger')
  ledger(): object {
    return this.simulation.provider.ledger();
  }

  @Get('quota')
  quota(): object {
    const { quotas } = this.simulation.provider;
    return { version: 1, default: quotas.default, changes: quotas.entries() };
  }

  @Put('quota')
  changeQuota(@Body() body: unknown): object {
    const { key, model, version: _version, ...change } = decode(QuotaInput, body);
    const target = { ...(key !== undefined && { key }), ...(model !== undefined && { model }) };
    this.simulation.provider.changeQuota(target, change);
    const { quotas } = this.simulation.provider;
    const inForce = model === undefined ? quotas.forKey(key ?? '') : quotas.forModel(key ?? '', model);
    return { version: 1, ...target, ...inForce };
  }

  @Get('faults')
  faults(): object {
    return { version: 1, faults: this.simulation.faults.pending() };
  }

  @Post('faults')
  @HttpCode(200)
  addFaults(@Body() body: unknown): object {
    this.simulation.faults.add(decode(FaultsInput, body).faults);
    return this.faults();
  }

  @Delete('faults')
  clearFaults(): object {
    this.simulation.faults.clear();
    return this.faults();
  }

  @Post('reset')
  @HttpCode(200)
  reset(): object {
    this.simulation.reset();
    return { version: 1 };
  }

  @Get('behaviour')
  behaviour(): object {
    return { version: 1, ...this.simulation.behaviour };
  }

  @Put('behaviour')
  changeBehaviour(@Body() body: unknown): object {
    const { version: _version, frames: said, ...change } = decode(BehaviourInput, body);
    const { frames: before, ...kept } = this.simulation.behaviour;
    const frames = said === undefined ? before : said;
    this.simulation.behaviour = { ...kept, ...change, ...(typeof frames === 'number' && { frames }) };
    return this.behaviour();
  }
}
