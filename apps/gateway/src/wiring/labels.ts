import type { AccountConfig, GatewayConfig } from '@weir/config';
import type { AccountLabels, ConfiguredLabels } from '@weir/telemetry';
import { profileOf } from '@weir/upstream';

/** What telemetry may use as labels: configured names and nothing that a caller can invent. */
export function labelsOf(config: GatewayConfig): ConfiguredLabels {
  return {
    accounts: config.accounts.map(accountLabels),
    routes: Object.keys(config.routes),
    teams: config.teams.map(({ id, promptTemplates }) => ({ id, templates: promptTemplates })),
  };
}

function accountLabels({ id, profile, baseUrl, models }: AccountConfig): AccountLabels {
  const { hostname, port, protocol } = new URL(baseUrl);
  return {
    id,
    provider: profileOf(profile).providerName,
    serverAddress: hostname,
    serverPort: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    models: models.map(({ name, price }) => (price === undefined ? { name } : { name, price })),
  };
}
