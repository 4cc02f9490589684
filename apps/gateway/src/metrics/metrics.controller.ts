import { Controller, Get, Header, Inject } from '@nestjs/common';
import { PROMETHEUS_CONTENT_TYPE } from '@weir/telemetry';

/** Where the text comes from. */
export interface MetricsText {
  metricsText(): Promise<string>;
}

/** Injection token of the port. */
export const MetricsText = Symbol('MetricsText');

/** The process's own metrics, under the names that they have after the collector. */
@Controller()
export class MetricsController {
  constructor(@Inject(MetricsText) private readonly source: MetricsText) {}

  /** Prometheus text format. */
  @Get('metrics')
  @Header('content-type', PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.source.metricsText();
  }
}
