import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, type Clock, type Milliseconds, type Target, type Tokens } from '@weir/kernel';
import {
  fitsAnyway,
  isInDoubt,
  type Cost,
  type ReservationRule,
  type ReserveRequest,
  type RouteRoom,
  type TokenEstimator,
} from '@weir/limiter';
import { readChatRequest, readEmbeddingRequest } from '@weir/protocol';
import { readCallHeaders, type CallHeaders } from './call-headers.js';
import type { ChatCall } from './chat-call.js';
import { promptCharacters } from './prompt-size.js';
import { chatText, embeddingText, frameTokens } from './prompt-text.js';

/** What a request is made of when it reaches the controller. */
export interface RawCall {
  readonly requestId: string;
  readonly team: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Where requests for one model name go. */
export interface Route {
  readonly targets: readonly Target[];
  readonly fallback: readonly Target[];
}

/** What the configuration says about calls; asked anew for each, so that a reload is in force for the next one. */
export interface CallRules {
  routes(): Readonly<Record<string, Route>>;
  /** The longest that a caller may wait. */
  maxWaitMs(): Milliseconds;
  /** How an account's provider books tokens when a request starts. */
  books(account: string): ReservationRule;
  /** What one request of a team may cost on the ways of a model, whatever time passes. */
  room(team: string, model: string): RouteRoom;
}

/** A deadline of now has passed when the limiter looks at it, so that `0`, which means "do not queue", would refuse everybody. */
export const LEAST_WAIT_MS: Milliseconds = 25;

/** Turns a raw request into a ChatCall, or says what is wrong with it. Nothing is charged before this succeeds. */
export class CallReader {
  constructor(
    private readonly rules: CallRules,
    private readonly estimator: TokenEstimator,
    private readonly clock: Clock,
  ) {}

  /** A chat request. @throws GatewayError `invalid_request` | `model_not_found` */
  read(raw: RawCall): ChatCall {
    const headers = readCallHeaders(raw.headers);
    const request = readChatRequest(raw.body);
    const { model, maxTokens, choices } = request;
    const ways = this.waysTo(model);
    const characters = promptCharacters(request);
    const room = this.rules.room(raw.team, model);
    const ask = {
      model,
      template: headers.template,
      inputChars: characters,
      maxTokens,
      n: choices,
      rule: this.rules.books(ways.targets[0].account),
      largest: maxTokens === undefined ? room.first : undefined,
    };
    const cost = this.estimator.reserve(ask);
    const isInDoubt = this.isInDoubt(ask, cost, frameTokens(request), room);
    const uncounted = isInDoubt ? { ask, prompt: chatText(request) } : undefined;
    const body = { operation: 'chat', path: '/chat/completions', request, characters, cost, uncounted };
    return this.callOf(raw, headers, { ...ways, ...body });
  }

  /** A request for embeddings: nothing is generated. @throws GatewayError `invalid_request` | `model_not_found` */
  readEmbedding(raw: RawCall): ChatCall {
    const headers = readCallHeaders(raw.headers);
    const request = readEmbeddingRequest(raw.body);
    const { model, characters, tokens } = request;
    const ways = this.waysTo(model);
    const cost = { inputTokens: this.estimator.estimateInput(model, characters) + tokens, outputTokens: 0 };
    const ask: ReserveRequest = {
      model,
      template: headers.template,
      inputChars: characters,
      rule: 'input_only',
    };
    const isInDoubt = this.isInDoubt(ask, cost, tokens, this.rules.room(raw.team, model));
    const uncounted = isInDoubt ? { ask, prompt: embeddingText(request) } : undefined;
    const body = { operation: 'embeddings', path: '/embeddings', request, characters, cost, uncounted };
    return this.callOf(raw, headers, { ...ways, ...body });
  }

  /** Whether counting may change what the limits say. Of nearly every request two comparisons know that it will not. */
  private isInDoubt(ask: ReserveRequest, estimated: Cost, besideText: Tokens, room: RouteRoom): boolean {
    const prompt = { characters: ask.inputChars, besideText };
    return (
      !fitsAnyway(prompt, estimated, room) &&
      isInDoubt(prompt, estimated, room, (counted) => this.estimator.reserve({ ...ask, counted }))
    );
  }

  private waysTo(model: string): Pick<ChatCall, 'targets' | 'fallback'> {
    const { targets = [], fallback = [] } = this.rules.routes()[model] ?? {};
    const [first, ...others] = targets;
    if (first === undefined) throw unknownModel(model);
    return { targets: [first, ...others], fallback };
  }

  private callOf(raw: RawCall, headers: CallHeaders, { operation, ...understood }: Understood): ChatCall {
    const { conversation, template, priority, maxWaitMs } = headers;
    const { model } = understood.request;
    const longestMs = this.rules.maxWaitMs();
    const arrivedAt = this.clock.now();
    return {
      identity: {
        ...{ requestId: raw.requestId, team: raw.team, model, operation, template, priority },
        ...(conversation === undefined ? {} : { conversation }),
      },
      ...understood,
      arrivedAt,
      deadline: arrivedAt + Math.min(longestMs, Math.max(LEAST_WAIT_MS, maxWaitMs ?? longestMs)),
    };
  }
}

/** What body and route decide. */
interface Understood extends Pick<
  ChatCall,
  'path' | 'request' | 'characters' | 'cost' | 'uncounted' | 'targets' | 'fallback'
> {
  readonly operation: string;
}

/** The caller asks for a name that no route has. */
export function unknownModel(model: string): GatewayError {
  const name = model.length > 100 ? `${model.slice(0, 100)}…` : model;
  return new GatewayError(
    'model_not_found',
    `No model is called ${JSON.stringify(name)} here. GET /v1/models lists those there are.`,
    { param: 'model' },
  );
}
