export { FakeClock, settled } from './fake-clock.js';
export { RecordingTracer, type EndedSpan, type SpanTree } from './recording-tracer.js';
export {
  ScriptedUpstream,
  type ReceivedCall,
  type ScriptedAnswer,
  type ScriptedEnd,
} from './scripted-upstream.js';
