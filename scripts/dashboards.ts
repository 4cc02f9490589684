/** `npm run dashboards [-- --check]`: writes grafana/dashboards from grafana/src, or says what differs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { dashboardOf } from '../grafana/src/dashboard.js';
import { DASHBOARDS } from '../grafana/src/dashboards.js';

const FOLDER = join(__dirname, '../grafana/dashboards');

function present(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

async function main(check: boolean): Promise<void> {
  for (const spec of DASHBOARDS) {
    const name = `${spec.uid}.json`;
    const path = join(FOLDER, name);
    const json = await format(JSON.stringify(dashboardOf(spec)), { parser: 'json', printWidth: 110 });
    if (present(path) === json) continue;
    if (check) {
      console.error(`grafana/dashboards/${name} is not what grafana/src makes; run: npm run dashboards`);
      process.exitCode = 1;
    } else {
      writeFileSync(path, json);
      console.log(`grafana/dashboards/${name}`);
    }
  }
}

void main(process.argv.includes('--check'));
