import { digestKey } from '@weir/config';
import { BODY_LIMIT, keyOf, MODELS, TEAMS } from './mixed-callers.js';
import { SIM_KEY } from './simulator-control.js';

/** With it the mixed run asks the gateway for its status. */
export const ADMIN_KEY = 'admin-key';

/** The `weir.yaml` of a mixed run: the provider's quotas are not declared, and nothing waits longer than it must. */
export function mixedConfig(simulatorUrl: string): object {
  return {
    accounts: [
      {
        id: 'main',
        baseUrl: `${simulatorUrl}/v1`,
        apiKey: SIM_KEY,
        models: Object.fromEntries(MODELS.map((model) => [model, {}])),
      },
    ],
    teams: TEAMS.map((id) => ({ id, keys: [digestKey(keyOf(id))], promptTemplates: [] })),
    server: { adminKeys: [digestKey(ADMIN_KEY)], bodyLimitBytes: BODY_LIMIT },
    queue: { delaySpreadMs: 0 },
    retry: { maxAttempts: 4, budgetRatio: 1 },
    breaker: { windowMs: 2_000, openMs: 200, maxOpenMs: 400 },
  };
}
