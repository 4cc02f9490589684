/** One query of a panel. */
export interface QuerySpec {
  readonly expr: string;
  /** Legend; for tables the name of the value column. */
  readonly legend: string;
  /** Asks for the traces behind the points: span_metrics has them, the gateway's own metrics do not. */
  readonly exemplar?: boolean;
}

/** What a value means, and its colour. */
export interface StateSpec {
  readonly text: string;
  readonly color: 'green' | 'orange' | 'red';
}

/**
 * What a panel looks like. Tables and stats ask for one value now: with a line over time a stat would go on showing its last
 * value when nothing is sent any more.
 */
export type PanelKind = 'stat' | 'lines' | 'stacked' | 'table' | 'states';

/** One panel, as data. `render.ts` makes Grafana's of it. */
export interface PanelSpec {
  /** Never changes, because links and alerts name it; the hundreds are the row. */
  readonly id: number;
  readonly kind: PanelKind;
  readonly title: string;
  /** What it shows, and what to make of it. */
  readonly description: string;
  /** Grafana's unit id. */
  readonly unit: string;
  /** Of 24. */
  readonly width: number;
  readonly queries: readonly QuerySpec[];
  /** Drawn as a line, and where the colour changes. */
  readonly limit?: number;
  /** Tags of the spans that the panel's link searches for; left out where no span belongs to it. */
  readonly traces?: Readonly<Record<string, string>>;
  /** Columns of a table, by label, in order, with their headings. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Of states: what their values mean. */
  readonly states?: Readonly<Record<string, StateSpec>>;
  /** Units of the value columns of a table that differ from `unit`, by legend. */
  readonly columnUnits?: Readonly<Record<string, string>>;
}

/** A row of panels. */
export interface RowSpec {
  /** A multiple of 100. */
  readonly id: number;
  readonly title: string;
  readonly collapsed?: boolean;
  readonly panels: readonly PanelSpec[];
}

/** Height of every panel, in grid units. */
export const PANEL_HEIGHT = 8;
/** Width of the grid. */
export const GRID_WIDTH = 24;
