export { FakeClock, settled } from './fake-clock.js';
export { RecordingTracer, type EndedSpan, type SpanTree } from './recording-tracer.js';
export {
  ScriptedUpstream,
  type ReceivedCall,
  type ScriptedAnswer,
  type ScriptedEnd,
} from './scripted-upstream.js';
export { limiterContract, type LimiterSetup } from './limiter.contract.js';
export { streamClientContract } from './upstream.contract.js';
export type { ClientOptions } from './upstream-fixture.js';
