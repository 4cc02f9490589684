/** The data source of traces, as provisioned. */
export const TRACES_UID = 'weir-traces';
/** `service.name` of the gateway. */
const SERVICE = 'weir';

/**
 * The gateway's own metrics carry no exemplars, so a panel leads to a search of the traces behind it instead.
 *
 * @param tags tags that a span of the trace must have; a value may be a variable, such as `${team}`
 * @returns a path of Grafana's Explore, for the time range of the dashboard
 */
export function traceSearch(tags: Readonly<Record<string, string>>): string {
  const written = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
  const query = {
    refId: 'A',
    datasource: { type: 'jaeger', uid: TRACES_UID },
    queryType: 'search',
    service: SERVICE,
    tags: written.join(' '),
    limit: 50,
  };
  const range = { from: '${__from}', to: '${__to}' };
  const panes = { weir: { datasource: TRACES_UID, queries: [query], range } };
  return `/explore?schemaVersion=1&orgId=1&panes=${withVariables(encodeURIComponent(JSON.stringify(panes)))}`;
}

/** Grafana fills variables in; they must reach it unencoded. */
function withVariables(encoded: string): string {
  return encoded.replace(/%24%7B(\w+)%7D/g, '${$1}');
}
