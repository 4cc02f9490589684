import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueGraphMode,
  GraphDrawStyle,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
  TableSortByFieldStateBuilder,
  VisibilityMode,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type DashboardLink,
  type DataSourceRef,
  type GridPos,
  type Panel,
  type ThresholdsConfig,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StatesBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as LinesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { shown } from './links.js';
import type { PanelKind, PanelSpec, QuerySpec } from './panel-spec.js';
import { traceSearch } from './trace-links.js';

/** What every panel asks; the reader may choose another Prometheus. */
export const METRICS_SOURCE: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

/** @returns Grafana's panel, in its place */
export function render(spec: PanelSpec, place: GridPos): Panel {
  switch (spec.kind) {
    case 'stat':
      return dressed(stat(), spec, place).build();
    case 'lines':
      return dressed(lines(spec), spec, place).build();
    case 'stacked':
      return dressed(stacked(spec), spec, place).build();
    case 'states':
      return dressed(states(spec), spec, place).build();
    case 'table':
      return dressed(table(spec), spec, place).build();
  }
}

/** What the builders of all panel kinds have in common. */
interface PanelChrome<Kind> extends Builder<Panel> {
  id(id: number): Kind;
  title(title: string): Kind;
  description(description: string): Kind;
  unit(unit: string): Kind;
  datasource(source: DataSourceRef): Kind;
  gridPos(place: GridPos): Kind;
  thresholds(thresholds: Builder<ThresholdsConfig>): Kind;
  links(links: Builder<DashboardLink>[]): Kind;
  targets(targets: Builder<Dataquery>[]): Kind;
}

function dressed<Kind extends PanelChrome<Kind>>(builder: Kind, spec: PanelSpec, place: GridPos): Kind {
  return builder
    .id(spec.id)
    .title(spec.title)
    .description(spec.description)
    .unit(spec.unit)
    .datasource(METRICS_SOURCE)
    .gridPos(place)
    .thresholds(thresholds(spec.limit))
    .links(spec.traces === undefined ? [] : [tracesLink(spec.traces)])
    .targets(spec.queries.map((query, at) => target(query, at, spec.kind)));
}

function target(query: QuerySpec, at: number, kind: PanelKind): DataqueryBuilder {
  const builder = new DataqueryBuilder()
    .refId(String.fromCharCode('A'.charCodeAt(0) + at))
    .datasource(METRICS_SOURCE)
    .expr(query.expr)
    .legendFormat(query.legend);
  if (query.exemplar === true) builder.exemplar(true);
  if (kind === 'table') return builder.instant().format(PromQueryFormat.Table);
  return kind === 'stat' ? builder.instant() : builder.range();
}

function thresholds(limit: number | undefined): ThresholdsConfigBuilder {
  const calm = { value: null, color: 'green' };
  const steps = limit === undefined ? [calm] : [calm, { value: limit, color: 'red' }];
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps);
}

function tracesLink(tags: Readonly<Record<string, string>>): Builder<DashboardLink> {
  const link = new DashboardLinkBuilder('Traces').type(DashboardLinkType.Link).url(traceSearch(tags));
  return shown(link.targetBlank(true));
}

function stat(): StatBuilder {
  return new StatBuilder()
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']));
}

function lines(spec: PanelSpec): LinesBuilder {
  const builder = new LinesBuilder()
    .drawStyle(GraphDrawStyle.Line)
    .showPoints(VisibilityMode.Never)
    .fillOpacity(8)
    .min(0)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    );
  if (spec.limit === undefined) return builder;
  return builder.thresholdsStyle(
    new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed),
  );
}

function stacked(spec: PanelSpec): LinesBuilder {
  return lines(spec).fillOpacity(40).stacking(new StackingConfigBuilder().mode(StackingMode.Normal));
}

function states({ states: options = {} }: PanelSpec): StatesBuilder {
  return new StatesBuilder()
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .mappings([{ type: MappingType.ValueToText, options: { ...options } }]);
}

/**
 * A table joins its queries on the labels they share: a line for each combination, a column for each query. The first of them
 * sorts it.
 */
function table({ columns = {}, columnUnits = {}, queries }: PanelSpec): TableBuilder {
  const values = queries.map(({ legend }, at) => [valueColumn(at, queries.length), legend] as const);
  const headings = { ...columns, ...Object.fromEntries(values) };
  const order = Object.keys(headings).map((name, at) => [name, at] as const);
  const builder = new TableBuilder()
    .sortBy([new TableSortByFieldStateBuilder().displayName(queries[0]?.legend ?? '').desc(true)])
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'filterFieldsByName', options: { include: { names: Object.keys(headings) } } })
    .withTransformation({
      id: 'organize',
      options: { renameByName: headings, indexByName: Object.fromEntries(order) },
    });
  for (const [name, unit] of Object.entries(columnUnits))
    builder.overrideByName(name, [{ id: 'unit', value: unit }]);
  return builder;
}

/** Prometheus names the value of one query `Value`, and of several `Value #A`, `Value #B`, … */
function valueColumn(at: number, queries: number): string {
  return queries === 1 ? 'Value' : `Value #${String.fromCharCode('A'.charCodeAt(0) + at)}`;
}
