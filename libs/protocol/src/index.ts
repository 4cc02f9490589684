export { readChatRequest, type ChatRequest } from './chat-request.js';
export { readEmbeddingRequest, type EmbeddingRequest } from './embedding-request.js';
export type { ModelRequest } from './request-fields.js';
export { completionToStream } from './completion-chunks.js';
export { completionFacts } from './completion-facts.js';
export type { ChoiceFacts, CompletionFacts } from './facts.js';
export { encodeErrorBody, encodeErrorEvent, errorAnswer, type ErrorAnswer } from './error-body.js';
export { EventReader, isErrorBody, type EventReading } from './event-reader.js';
export { elementsOf, isRecord, parseJson } from './json-value.js';
export { rewriteRequest, type RequestChanges } from './rewrite-request.js';
export {
  readFrame,
  rewriteFrame,
  type ChunkReading,
  type FrameChanges,
  type FrameReading,
  type StreamIdentity,
} from './stream-frame.js';
export { SseDecoder, type SseEvent } from './sse-decoder.js';
export { DONE_EVENT, encodeSseComment, encodeSseEvent } from './sse-encoder.js';
export { mergeUsage, type TokenUsage } from './usage.js';
