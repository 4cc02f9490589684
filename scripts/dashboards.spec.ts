import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ATTRIBUTES, METRICS } from '@weir/telemetry';
import { stringify } from 'yaml';
import { dashboardOf } from '../grafana/src/dashboard.js';
import { series } from '../grafana/src/selectors.js';
import { DASHBOARDS } from '../grafana/src/dashboards.js';
import { dashboardFiles, panelsOf, resolved, type Panel } from './dashboard-files.js';
import { counters, knownSeries } from './known-series.js';
import { describeWith, PROMETHEUS } from './needs-program.js';
import { mentions } from './promql.js';

const UNITS = ['percentunit', 'reqps', 'cps', 's', 'short', 'none', 'currencyUSD'];
const SPEC_OF = new Map(DASHBOARDS.map((spec) => [`${spec.uid}.json`, spec]));

const dashboards = dashboardFiles();
const targets = dashboards.flatMap(({ name, json }) =>
  panelsOf(json).flatMap((panel) =>
    (panel.targets ?? []).map(({ expr }) => ({ where: `${name} ${panel.id} ${panel.title}`, expr })),
  ),
);

const overlap = (a: Panel, b: Panel): boolean => {
  const [p, q] = [a.gridPos, b.gridPos];
  return p.x < q.x + q.w && q.x < p.x + p.w && p.y < q.y + q.h && q.y < p.y + p.h;
};

describe('dashboards', () => {
  it('are all there, and no other', () => {
    expect(dashboards.map(({ name }) => name)).toEqual([...SPEC_OF.keys()].sort());
    expect([...SPEC_OF.keys()]).toEqual(expect.arrayContaining(['weir.json', 'weir-team.json']));
  });

  it('have the rows that on-call people read, in this order', () => {
    const rows = dashboards.find(({ name }) => name === 'weir.json')?.json.panels ?? [];
    expect(rows.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'Are we throttled?',
      'Who burns the quota?',
      'Room and queue',
      'Requests and time to first token',
      'Recovery',
      'Cost',
      'Telemetry health',
    ]);
  });

  it('mention only metrics and labels that exist', () => {
    const known = knownSeries();
    const unknown = targets.flatMap(({ where, expr }) => {
      const { selectors, grouped } = mentions(expr);
      const allLabels = new Set(selectors.flatMap(({ metric }) => [...(known.get(metric) ?? [])]));
      const wrong = selectors.flatMap(({ metric, labels }) => {
        if (metric !== '' && !known.has(metric)) return [metric];
        return labels.filter((label) => metric !== '' && !known.get(metric)?.has(label));
      });
      const lost = metricless(selectors) ? [] : grouped.filter((label) => !allLabels.has(label));
      return [...wrong, ...lost].map((name) => `${where}: ${name}`);
    });
    expect(targets.length).toBeGreaterThan(50);
    expect(unknown).toEqual([]);
  });

  it('offer the choices that both are for', () => {
    for (const { json } of dashboards.filter(({ name }) => /^weir(-team)?\.json$/.test(name)))
      expect(json.templating.list.map(({ name }) => name).sort()).toEqual([
        'datasource',
        'model',
        'priority',
        'provider',
        'team',
        'template',
      ]);
  });

  it('never show the bare value of a counter', () => {
    const counted = counters();
    const bare = targets.filter(({ expr }) => {
      const outside = expr.replace(/(?:rate|increase)\([^[]*\[[^\]]*\]\)/g, '');
      return mentions(outside).selectors.some(({ metric }) => counted.has(metric));
    });
    expect(bare).toEqual([]);
  });

  it('rate over an interval that holds enough scrapes', () => {
    const ranges = targets.flatMap(({ expr }) =>
      [...expr.replace(/"[^"]*"/g, '').matchAll(/\[([^\]]*)\]/g)].map(([, range]) => range),
    );
    expect(new Set(ranges)).toEqual(new Set(['$__rate_interval', '$__range', '5m', '1h']));
  });
});

describe.each(dashboards)('$name', ({ name, json }) => {
  const panels = panelsOf(json);

  it('is what grafana/src makes', () => {
    const spec = SPEC_OF.get(name);
    expect(spec && JSON.parse(JSON.stringify(dashboardOf(spec)))).toEqual(json);
  });

  it('gives every panel a title, a description, a unit and a query', () => {
    const poor = panels.filter(
      ({ title, description, fieldConfig, targets: asked }) =>
        !title || !description || !UNITS.includes(fieldConfig?.defaults?.unit ?? '') || !asked?.length,
    );
    expect(poor).toEqual([]);
  });

  it('has unique ids and titles, and no overlap', () => {
    const all = json.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
    const clashes = all.flatMap((a, at) =>
      all.slice(at + 1).flatMap((b) => (overlap(a, b) ? [`${a.title} / ${b.title}`] : [])),
    );
    expect(clashes).toEqual([]);
    expect(all.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  it('names the queries of each panel A, B, …', () => {
    for (const { targets: asked = [] } of panels)
      expect(asked.map(({ refId }) => refId)).toEqual(asked.map((_, at) => String.fromCharCode(65 + at)));
  });

  it('asks the chosen data source, everywhere', () => {
    const asked = panels.flatMap(({ datasource, targets: queries = [] }) => [
      datasource?.uid,
      ...queries.map((query) => query.datasource?.uid),
    ]);
    expect(new Set(asked)).toEqual(new Set(['${datasource}']));
  });

  it('cannot be changed in the browser, and its choices follow the time range', () => {
    expect(json.editable).toBe(false);
    const [source, ...choices] = json.templating.list;
    expect(source).toMatchObject({ type: 'datasource', query: 'prometheus', name: 'datasource' });
    expect(choices.filter(({ type, refresh }) => type !== 'query' || refresh !== 2)).toEqual([]);
    const known = ['model', 'priority', 'provider', 'team', 'template'];
    expect(choices.filter((choice) => !known.includes(choice.name))).toEqual([]);
    expect(choices.filter(({ description }) => !description)).toEqual([]);
  });

  it('offers values of labels that exist', () => {
    const known = knownSeries();
    for (const { query = '' } of json.templating.list.slice(1)) {
      const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
      const { selectors } = mentions(selector);
      const names =
        /__name__=~"([^"]+)"/.exec(selector)?.[1]?.split('|') ?? selectors.map(({ metric }) => metric);
      expect(names.length).toBeGreaterThan(0);
      const missing = names.flatMap((metric) =>
        [label, ...selectors.flatMap(({ labels }) => labels)].filter((name) => !known.get(metric)?.has(name)),
      );
      expect({ query, missing }).toEqual({ query, missing: [] });
    }
  });

  it('offers models by the names of requests, which a route may have chosen, and of calls', () => {
    for (const { query } of json.templating.list.filter((variable) => variable.name === 'model'))
      expect(query).toMatch(/weir_requests_total\|weir_(upstream_attempts|quota_tokens)_total/);
  });

  it('shows in stats and tables what is now, not the last value of a time when something was sent', () => {
    const now = panels.filter(({ type }) => type === 'stat' || type === 'table');
    expect(
      now
        .flatMap(({ targets: asked = [] }) => asked)
        .filter(({ instant, range }) => !instant || range === true),
    ).toEqual([]);
  });

  it('sorts tables by their first number, the largest first', () => {
    for (const { options, targets: asked = [] } of panels.filter(({ type }) => type === 'table'))
      expect(options?.sortBy).toEqual([{ displayName: asked[0]?.legendFormat, desc: true }]);
  });

  it('gives each state a colour: what fires is not green', () => {
    for (const { title, fieldConfig } of panels.filter(({ type }) => type === 'state-timeline')) {
      const colours = Object.entries(fieldConfig?.defaults?.mappings?.[0]?.options ?? {});
      const bad = title === 'Scraped' ? '0' : '1';
      expect(colours.find(([value]) => value === bad)?.[1].color).toMatch(/red|orange/);
    }
  });

  it('has its links in sight', () => {
    const links = [...json.links, ...panels.flatMap((panel) => panel.links ?? [])];
    expect(links.filter(({ placement }) => placement !== undefined)).toEqual([]);
  });

  it('uses every variable that it offers', () => {
    const text = panels.flatMap(({ targets: asked = [] }) => asked.map(({ expr }) => expr)).join('\n');
    const unused = json.templating.list.filter(
      (variable) => variable.name !== 'datasource' && !text.includes(`$${variable.name}`),
    );
    expect(unused.map((variable) => variable.name)).toEqual([]);
  });

  it('leads to traces by a search that Grafana can read', () => {
    const links = panels.flatMap((panel) => panel.links ?? []).map(({ url }) => url ?? '');
    for (const url of links) {
      const panes = new URL(url, 'http://grafana').searchParams.get('panes') ?? '';
      const { weir: pane } = JSON.parse(panes) as { weir: { datasource: string; range: object } };
      expect(pane.datasource).toBe('weir-traces');
      expect(pane.range).toEqual({ from: '${__from}', to: '${__to}' });
    }
  });

  it('searches traces by tags that spans have, and calls for a 429 of a provider by no status that Weir gives, too', () => {
    const known: readonly string[] = [...Object.values(ATTRIBUTES), 'error'];
    const tags = panels
      .flatMap((panel) => panel.links ?? [])
      .flatMap(({ url = '' }) => {
        const panes = new URL(url, 'http://grafana').searchParams.get('panes') ?? '';
        const { weir: pane } = JSON.parse(panes) as { weir: { queries: { tags: string }[] } };
        return pane.queries.flatMap((query) => query.tags.split(' '));
      });
    expect(tags.filter((tag) => !known.includes(tag.split('=')[0] ?? ''))).toEqual([]);
    expect(tags).not.toContain('http.response.status_code=429');
  });
});

describe('Weir: one team', () => {
  const json = dashboards.find(({ name }) => name === 'weir-team.json')?.json;
  const variables = json?.templating.list.filter(({ name }) => !['datasource', 'team'].includes(name)) ?? [];

  it('asks for exactly that team, in every selector and in every choice', () => {
    const asked = targets.filter(({ where }) => where.startsWith('weir-team')).map(({ expr }) => expr);
    const selectors = [...asked, ...variables.map(({ query = '' }) => query)].flatMap(
      (expr) => expr.match(/\{[^}]*\}/g) ?? [expr],
    );
    expect(selectors.length).toBeGreaterThan(15);
    expect(selectors.filter((selector) => !selector.includes('weir_team="$team"'))).toEqual([]);
  });

  it('is not given a choice of several teams', () => {
    const weirJson = dashboards.find(({ name }) => name === 'weir.json')?.json;
    expect(weirJson?.links).toMatchObject([{ url: '/d/weir-team', includeVars: false }]);
    expect(json?.links).toMatchObject([{ url: '/d/weir', includeVars: true }]);
  });
});

describeWith(PROMETHEUS)('queries of the dashboards in Prometheus', () => {
  it('parse', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-queries-'));
    const rules = targets.map(({ expr }, at) => ({ record: `query_${at}`, expr: resolved(expr) }));
    const path = join(folder, 'queries.yml');
    writeFileSync(path, stringify({ groups: [{ name: 'queries', rules }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', path], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
  });
});

describe('selectors of the dashboards', () => {
  it('refuse a label that the metric does not have: such a panel would stay empty', () => {
    expect(() => series(METRICS.queueDepth, { where: { [ATTRIBUTES.team]: '="search"' } })).toThrow(
      /no label/,
    );
  });
});

function metricless(selectors: readonly { readonly metric: string }[]): boolean {
  return selectors.some(({ metric }) => metric === '');
}
