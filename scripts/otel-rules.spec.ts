import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { knownSeries, rulesOf } from './known-series.js';
import { describeWith, PROMETHEUS } from './needs-program.js';
import { mentions } from './promql.js';

const REPOSITORY = join(__dirname, '..');
const alerts = rulesOf('alerts.yml');
const tests = globSync('otel/rules/tests/*.yml', { cwd: REPOSITORY });

/** @returns exit code and output of promtool, run in `cwd`. */
function promtool(args: readonly string[], cwd = REPOSITORY): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', [...args], { cwd, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

describe('rules', () => {
  it('say which page to read, and the page is there', () => {
    const wrong = alerts.filter(({ alert, annotations = {} }) => {
      const page = annotations['runbook_url'];
      return page !== `docs/runbooks/${alert}.md` || !existsSync(join(REPOSITORY, page));
    });
    expect(alerts.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });

  it('say what happened, what it means and how urgent it is', () => {
    const wrong = alerts.filter(
      ({ annotations = {}, labels = {} }) =>
        !annotations['summary'] ||
        !annotations['description'] ||
        !/^(page|warning)$/.test(labels['severity'] ?? ''),
    );
    expect(wrong).toEqual([]);
  });

  it('have a page each, and no page without one', () => {
    const pages = globSync('docs/runbooks/Weir*.md', { cwd: REPOSITORY });
    expect(pages.sort()).toEqual(alerts.map(({ alert }) => `docs/runbooks/${alert}.md`).sort());
  });

  it('name metrics and labels that exist', () => {
    const known = knownSeries();
    const unknown = [...alerts, ...rulesOf('recording.yml')].flatMap(({ alert, record, expr }) =>
      mentions(expr).selectors.flatMap(({ metric, labels }) => {
        if (metric === '') return [];
        const of = known.get(metric);
        if (of === undefined) return [`${alert ?? record}: ${metric}`];
        return labels
          .filter((label) => !of.has(label))
          .map((label) => `${alert ?? record}: ${metric}{${label}}`);
      }),
    );
    expect(unknown).toEqual([]);
  });

  it('are tested: each alert fires in one case and stays silent in another', () => {
    const text = tests.map((path) => readFileSync(join(REPOSITORY, path), 'utf8')).join('\n');
    const untested = alerts.filter(({ alert }) => {
      const fires = new RegExp(`alertname: ${alert}\\n\\s*exp_alerts:(?! \\[\\])`);
      const silent = new RegExp(`alertname: ${alert}, exp_alerts: \\[\\]|alertname="${alert}"`);
      return !fires.test(text) || !silent.test(text);
    });
    expect(untested.map(({ alert }) => alert)).toEqual([]);
  });
});

describeWith(PROMETHEUS)('rules in Prometheus', () => {
  it('load, with prometheus.yml', () => {
    expect(promtool(['check', 'config', 'otel/prometheus.yml'])).toMatchObject({ status: 0 });
    expect(promtool(['check', 'rules', ...globSync('otel/rules/*.yml', { cwd: REPOSITORY })])).toMatchObject({
      status: 0,
    });
  });

  it.each(tests)('%s', (path) => {
    expect(promtool(['test', 'rules', path])).toMatchObject({ status: 0 });
  });

  describe('with a fault planted', () => {
    let copy: string;
    beforeEach(() => {
      copy = mkdtempSync(join(tmpdir(), 'weir-rules-'));
      cpSync(join(REPOSITORY, 'otel/rules'), copy, { recursive: true });
    });
    afterEach(() => {
      rmSync(copy, { recursive: true });
    });

    it.each([
      ['a limit of 6 %', '> 0.05', '> 0.06', 'throttled.yml'],
      ['a limit that 5 % reaches', '> 0.05', '>= 0.05', 'throttled.yml'],
      ['no guard against low traffic', '>= 20', '>= 0', 'throttled.yml'],
      ['a caller limit of 2 %', '> 0.01', '> 0.02', 'callers-throttled.yml'],
      ['90 % as too much', '> 0.9', '>= 0.9', 'room.yml'],
      ['births unseen', 'unless weir_upstream', 'and weir_upstream', 'account-parked.yml'],
      ['an absence taken for births', 'and on () group', 'or on () group', 'account-parked.yml'],
      ['a breaker that probes taken for a closed one', '[105s]', '[15s]', 'room.yml'],
      ['a closed breaker taken for an open one', 'unless ignoring', 'or ignoring', 'room.yml'],
    ])('notice %s', (_, right, wrong, test) => {
      const path = join(copy, 'alerts.yml');
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(right, wrong));
      expect(promtool(['test', 'rules', `tests/${test}`], copy)).toMatchObject({ status: 1 });
    });
  });
});
