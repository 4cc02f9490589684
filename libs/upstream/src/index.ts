export {
  StreamClient,
  type Frame,
  type ReportedUsage,
  type StreamReading,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './stream-client.js';
