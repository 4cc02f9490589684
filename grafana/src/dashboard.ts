import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  defaultDashboard,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
  type DashboardLink,
  type Panel,
  type RowPanel,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { MetricDescription } from '@weir/telemetry';
import { GRID_WIDTH, PANEL_HEIGHT, type RowSpec } from './panel-spec.js';
import { shown } from './links.js';
import { METRICS_SOURCE, render } from './render.js';
import { labelValues, type Matcher } from './selectors.js';

/** A variable whose choices are the values of a label. */
export interface VariableSpec {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** Metrics that have the label. */
  readonly metrics: readonly MetricDescription[];
  readonly attribute: string;
  /** Only the values beside these, by attribute. */
  readonly where?: Readonly<Record<string, Matcher>>;
  /** One choice instead of several or all. */
  readonly single?: boolean;
}

/** A dashboard, as data. */
export interface DashboardSpec {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly VariableSpec[];
  readonly rows: readonly RowSpec[];
  /** A dashboard that it links to, with the time range. */
  readonly beside: {
    readonly title: string;
    readonly uid: string;
    /** Takes the variables along. A choice of several is none for a dashboard that has one. */
    readonly withVariables: boolean;
  };
}

/** What Grafana provisions: classic JSON, which it brings up to date itself when it loads it. */
export type DashboardJson = ReturnType<typeof defaultDashboard>;

/** Prometheus, as provisioned. */
export const METRICS_UID = 'weir-metrics';

/** @returns the JSON of a dashboard; the same every time */
export function dashboardOf(spec: DashboardSpec): DashboardJson {
  return {
    ...defaultDashboard(),
    uid: spec.uid,
    title: spec.title,
    description: spec.description,
    tags: ['weir'],
    // Changes are made in grafana/src.
    editable: false,
    graphTooltip: DashboardCursorSync.Crosshair,
    time: { from: 'now-1h', to: 'now' },
    refresh: '15s',
    links: [linkTo(spec.beside).build()],
    templating: { list: [sourceVariable(), ...spec.variables.map(labelVariable)] },
    panels: laidOut(spec.rows),
  };
}

function linkTo({ title, uid, withVariables }: DashboardSpec['beside']): Builder<DashboardLink> {
  const link = new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(`/d/${uid}`);
  return shown(link.includeVars(withVariables).keepTime(true));
}

function sourceVariable(): VariableModel {
  return new DatasourceVariableBuilder('datasource')
    .label('Prometheus')
    .description('Where the metrics come from.')
    .type('prometheus')
    .current({ text: 'Weir metrics', value: METRICS_UID })
    .build();
}

function labelVariable({ single, ...spec }: VariableSpec): VariableModel {
  const builder = new QueryVariableBuilder(spec.name)
    .label(spec.label)
    .description(spec.description)
    .datasource(METRICS_SOURCE)
    .query(labelValues(spec.attribute, spec.metrics, spec.where))
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc);
  if (single === true) return builder.multi(false).includeAll(false).build();
  return builder
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ text: 'All', value: '$__all' })
    .build();
}

/** Rows under each other; in a row from left to right, and on the next line where the width is used up. */
function laidOut(rows: readonly RowSpec[]): (Panel | RowPanel)[] {
  let y = 0;
  return rows.flatMap((row) => {
    const bar = new RowBuilder(row.title).id(row.id).gridPos({ x: 0, y, w: GRID_WIDTH, h: 1 });
    const { panels, bottom } = panelsOf(row, y + 1);
    y = bottom;
    // Grafana keeps the panels of a closed row inside it, and those of an open one behind it.
    if (row.collapsed === true) return [{ ...bar.collapsed(true).build(), panels }];
    return [bar.collapsed(false).build(), ...panels];
  });
}

function panelsOf(row: RowSpec, top: number): { readonly panels: Panel[]; readonly bottom: number } {
  let x = 0;
  let y = top;
  const panels = row.panels.map((panel) => {
    if (x + panel.width > GRID_WIDTH) {
      x = 0;
      y += PANEL_HEIGHT;
    }
    const place = { x, y, w: panel.width, h: PANEL_HEIGHT };
    x += panel.width;
    return render(panel, place);
  });
  return { panels, bottom: y + PANEL_HEIGHT };
}
