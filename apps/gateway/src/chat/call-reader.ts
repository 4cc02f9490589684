import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, type Clock, type Milliseconds, type Target } from '@weir/kernel';
import type { LargestCost, ReservationRule, TokenEstimator } from '@weir/limiter';
import { readChatRequest, readEmbeddingRequest } from '@weir/protocol';
import { readCallHeaders, type CallHeaders } from './call-headers.js';
import type { ChatCall } from './chat-call.js';
import { promptCharacters } from './prompt-size.js';

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
  /** What one request of a team may cost at a target, whatever time passes. */
  largest(team: string, target: Target): LargestCost;
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
    const cost = this.estimator.reserve({
      model,
      template: headers.template,
      inputChars: characters,
      maxTokens,
      n: choices,
      rule: this.rules.books(ways.targets[0].account),
      largest: maxTokens === undefined ? this.rules.largest(raw.team, ways.targets[0]) : undefined,
    });
    const body = { operation: 'chat', path: '/chat/completions', request, characters, cost };
    return this.callOf(raw, headers, { ...ways, ...body });
  }

  /** A request for embeddings: nothing is generated. @throws GatewayError `invalid_request` | `model_not_found` */
  readEmbedding(raw: RawCall): ChatCall {
    const headers = readCallHeaders(raw.headers);
    const request = readEmbeddingRequest(raw.body);
    const { model, characters, tokens } = request;
    const cost = { inputTokens: this.estimator.estimateInput(model, characters) + tokens, outputTokens: 0 };
    const body = { operation: 'embeddings', path: '/embeddings', request, characters, cost };
    return this.callOf(raw, headers, { ...this.waysTo(model), ...body });
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
  'path' | 'request' | 'characters' | 'cost' | 'targets' | 'fallback'
> {
  readonly operation: string;
}

/** The caller asks for a name that no route has. */
export function unknownModel(model: string): GatewayError {
  const name = model.length > 100 ? `${model.slice(0, 100)}…` : model;
  return new GatewayError(
    'model_not_found',
    `No model is called ${JSON.stringify(name)} here. Use a model of the gateway's configuration.`,
    { param: 'model' },
  );
}
