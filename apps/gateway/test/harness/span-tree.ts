import { RecordingTracer, type SpanTree } from '@weir/testing';
import type { SpanLog } from './span-log.js';

/** A span and what is below it, without what differs from run to run. */
export interface StillTree extends Omit<SpanTree, 'at' | 'children'> {
  readonly children: readonly StillTree[];
}

/** Attributes whose values are of the run, not of the scenario: only what kind of value they have is compared. */
const OF_THE_RUN = new Set([
  'weir.request.id',
  'weir.time_to_first_chunk',
  'gen_ai.response.id',
  'gen_ai.response.time_to_first_chunk',
  'server.port',
  'network.peer.port',
]);

/**
 * The one tree of a trace, whole; siblings in order of their start.
 * @throws Error where the trace has another number of roots
 */
export function treeOf(log: SpanLog, traceId: string): StillTree {
  const tracer = new RecordingTracer();
  for (const span of log.ofTrace(traceId)) tracer.ended(span);
  const [tree, ...others] = tracer.trees();
  if (tree === undefined || others.length > 0) throw new Error('A trace has one root.');
  return still(tree);
}

function still({ span, kind, status, attributes, links, children }: SpanTree): StillTree {
  const known = Object.entries(attributes).map(([name, value]) => [name, stillValue(name, value)]);
  return {
    span,
    kind,
    status,
    attributes: Object.fromEntries(known) as Record<string, unknown>,
    links,
    children: children.map(still),
  };
}

function stillValue(name: string, value: unknown): unknown {
  if (OF_THE_RUN.has(name)) return `<${typeof value}>`;
  return name === 'url.full' ? String(value).replace(/:\d+/, ':<port>') : value;
}
