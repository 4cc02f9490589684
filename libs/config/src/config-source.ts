import { ConfigFaults, type Fault } from './fault.js';
import type { GatewayConfig } from './gateway-config.js';

/** What a reload came to. */
export type Reload =
  | { readonly kind: 'applied'; readonly config: GatewayConfig }
  | { readonly kind: 'rejected'; readonly faults: readonly Fault[] };

/** The configuration in force. A reload takes the new one whole, or keeps the old one whole. */
export class ConfigSource {
  #current: GatewayConfig;

  /**
   * @param load reads and checks everything anew at each call
   * @throws ConfigFaults at the start, when there is no old configuration to keep
   */
  constructor(private readonly load: () => GatewayConfig) {
    this.#current = load();
  }

  /** What is in force now. Keep the object, not the source, where one request must see one configuration. */
  get current(): GatewayConfig {
    return this.#current;
  }

  /** Reads again. Whoever calls it decides which parts of a running gateway follow. */
  reload(): Reload {
    try {
      this.#current = this.load();
      return { kind: 'applied', config: this.#current };
    } catch (thrown) {
      if (thrown instanceof ConfigFaults) return { kind: 'rejected', faults: thrown.faults };
      throw thrown;
    }
  }
}
