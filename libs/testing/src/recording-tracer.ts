/** A span as telemetry hands it to a sink, as far as a test looks at it. */
export interface EndedSpan {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number };
  readonly links: readonly { readonly context: { readonly spanId: string } }[];
  readonly parentSpanContext: { readonly spanId: string; readonly isRemote?: boolean } | undefined;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  spanContext(): { readonly traceId: string; readonly spanId: string };
}

/** A span and what is below it, in words that a test compares as a whole. */
export interface SpanTree {
  /** The name and, where several spans share it, `#` and a number in order of their start. */
  readonly span: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly status: 'unset' | 'error';
  /** Start and end, on the recorder's clock. */
  readonly at: readonly [number, number | undefined];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The `span` of each linked one. */
  readonly links: readonly string[];
  readonly children: readonly SpanTree[];
}

const KINDS = ['internal', 'server', 'client'] as const;

/** A sink that keeps every span that ended, and shows them as trees. */
export class RecordingTracer {
  readonly spans: EndedSpan[] = [];

  ended(span: EndedSpan): void {
    this.spans.push(span);
  }

  /** Spans with this name, in the order of their ends. */
  named(name: string): readonly EndedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** Everything that ended, roots first; siblings in order of their start. */
  trees(): readonly SpanTree[] {
    const ordered = [...this.spans].sort((one, other) => one.startedAt - other.startedAt);
    const ids = new Set(ordered.map(idOf));
    const labels = labelled(ordered);
    const below = (parent: string | undefined): readonly SpanTree[] =>
      ordered
        .filter((span) => {
          const above = span.parentSpanContext?.spanId;
          return above !== undefined && ids.has(above) ? above === parent : parent === undefined;
        })
        .map((span) => ({
          span: labels.get(idOf(span)) ?? span.name,
          kind: KINDS[span.kind] ?? 'internal',
          status: span.status.code === 2 ? 'error' : 'unset',
          at: [span.startedAt, span.endedAt],
          attributes: span.attributes,
          links: span.links.map(({ context }) => labels.get(context.spanId) ?? 'unknown'),
          children: below(idOf(span)),
        }));
    return below(undefined);
  }
}

function idOf(span: EndedSpan): string {
  return span.spanContext().spanId;
}

function labelled(spans: readonly EndedSpan[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const span of spans) {
    const alike = spans.filter(({ name }) => name === span.name);
    labels.set(idOf(span), alike.length === 1 ? span.name : `${span.name}#${alike.indexOf(span) + 1}`);
  }
  return labels;
}
