import type { DashboardSpec } from './dashboard.js';
import { weirTeam } from './weir-team.js';
import { weir } from './weir.js';

/** Every dashboard that Grafana is given; `npm run dashboards` writes a file for each. */
export const DASHBOARDS: readonly DashboardSpec[] = [weir, weirTeam];
