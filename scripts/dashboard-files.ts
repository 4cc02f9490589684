import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../grafana/dashboards');

interface Source {
  readonly type?: string;
  readonly uid?: string;
}

/** A link of a panel or a dashboard. */
interface Link {
  readonly url?: string;
  readonly placement?: string;
  readonly includeVars?: boolean;
}

/** A panel or a row in a dashboard's JSON, as far as tests read it. */
export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: Source;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: {
    readonly defaults?: {
      readonly unit?: string;
      readonly mappings?: readonly {
        readonly options: Readonly<Record<string, { readonly color?: string }>>;
      }[];
    };
  };
  readonly options?: {
    readonly sortBy?: readonly { readonly displayName: string; readonly desc?: boolean }[];
  };
  readonly links?: readonly Link[];
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource?: Source;
    readonly legendFormat?: string;
    readonly instant?: boolean;
    readonly range?: boolean;
  }[];
  readonly panels?: readonly Panel[];
}

/** A dashboard's JSON, as far as tests read it. */
export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly editable: boolean;
  readonly links: readonly Link[];
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query?: string;
      readonly refresh?: number;
      readonly description?: string;
    }[];
  };
}

/** @returns the dashboards that Grafana is given, as committed */
export function dashboardFiles(): readonly { readonly name: string; readonly json: Dashboard }[] {
  return globSync('*.json', { cwd: FOLDER })
    .sort()
    .map((name) => ({ name, json: JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Dashboard }));
}

/** @returns its panels without the rows, those in closed rows too */
export function panelsOf({ panels }: Dashboard): readonly Panel[] {
  return panels.flatMap((panel) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]));
}

/** @returns the query as Prometheus gets it where everything is chosen, over `range` */
export function resolved(expr: string, range = '5m'): string {
  return expr
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', range)
    .replace(/="\$\w+"/g, '=~".*"')
    .replace(/\$(?:provider|model|team|template|priority)\b/g, '.*');
}
