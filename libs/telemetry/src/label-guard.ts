import type { AccountLabels } from './request-trace.js';

/** What the configuration says about labels. */
export interface ConfiguredLabels {
  readonly accounts: readonly AccountLabels[];
  /** Model names that callers may use: routes, and models under their own names. */
  readonly routes: readonly string[];
  readonly teams: readonly { readonly id: string; readonly templates: readonly string[] }[];
}

/** Unregistered templates that become a label of their own, per process. */
const TEMPLATE_LIMIT = 200;
const TEMPLATE = /^[a-z0-9._-]{1,64}$/;

/** Keeps callers from minting series: configured values pass, a bounded number of templates, the rest is `other`. */
export class LabelGuard {
  private models: ReadonlySet<string> = new Set();
  private teams: ReadonlySet<string> = new Set();
  private registered: ReadonlySet<string> = new Set();
  private readonly met = new Set<string>();

  constructor(
    configured: ConfiguredLabels,
    private readonly templateLimit = TEMPLATE_LIMIT,
  ) {
    this.configure(configured);
  }

  /** What is configured from now on. Templates that were met keep their labels. */
  configure(configured: ConfiguredLabels): void {
    const targets = configured.accounts.flatMap(({ models }) => models.map(({ name }) => name));
    this.models = new Set([...configured.routes, ...targets, '*']);
    this.teams = new Set(configured.teams.map(({ id }) => id));
    this.registered = new Set(['none', ...configured.teams.flatMap(({ templates }) => templates)]);
  }

  model(name: string): string {
    return this.models.has(name) ? name : 'other';
  }

  team(id: string): string {
    return this.teams.has(id) ? id : 'unknown';
  }

  template(name: string): string {
    if (this.registered.has(name) || this.met.has(name)) return name;
    if (this.met.size >= this.templateLimit || !TEMPLATE.test(name)) return 'other';
    this.met.add(name);
    return name;
  }
}
