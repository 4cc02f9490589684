import { ConfigFaults, ConfigSource, formatFault, restartsNeeded, type GatewayConfig } from '@weir/config';
import type { Limiter } from '@weir/limiter';
import type { Logger, Telemetry } from '@weir/telemetry';
import { dimensionsOf } from './dimensions.js';
import { labelsOf } from './labels.js';

/** Who must be told of a new configuration; everybody else asks for the one in force. */
export interface Followers {
  readonly limiter: Pick<Limiter, 'setLimit'>;
  readonly telemetry: Pick<Telemetry, 'relabel'>;
  readonly logger: Logger;
}

/**
 * The configuration in force, and its reload: all or nothing. A file with a fault, or with a change that needs a
 * restart, changes nothing and is named in the log; a good one is in force for the next request, and new limits
 * wake whoever waits.
 */
export class LiveConfig {
  private readonly source: ConfigSource;
  private running: GatewayConfig | undefined;

  /**
   * @param load reads and checks the file anew
   * @throws ConfigFaults where there is nothing to keep
   */
  constructor(load: () => GatewayConfig) {
    this.source = new ConfigSource(() => {
      const next = load();
      const faults = this.running === undefined ? [] : restartsNeeded(this.running, next);
      if (faults.length > 0) throw new ConfigFaults(next.source, faults);
      return next;
    });
    this.running = this.source.current;
  }

  /** What is in force now. */
  get current(): GatewayConfig {
    return this.source.current;
  }

  /** Reads the file again. Never throws: a running gateway stays as it is when the file is broken. */
  reload({ limiter, telemetry, logger }: Followers): void {
    const outcome = this.source.reload();
    if (outcome.kind === 'rejected') {
      logger.warn('reload refused', { faults: outcome.faults.map(formatFault) });
      return;
    }
    const { config } = outcome;
    this.running = config;
    for (const { id, limit } of dimensionsOf(config)) limiter.setLimit(id, limit);
    telemetry.relabel(labelsOf(config));
    logger.info('reloaded', { config: config.source, notices: config.notices });
  }
}
