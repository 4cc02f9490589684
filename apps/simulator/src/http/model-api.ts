import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock, Timers } from '@weir/kernel';
import type { z } from 'zod';
import { jsonAnswer, textAnswer, type Answer, type HeaderMap } from '../answer/answer.js';
import { plainChat, streamedChat, type Envelope } from '../answer/chat-answer.js';
import { ChatRequest, countPrompt } from '../answer/chat-request.js';
import { EmbeddingRequest, countInputs, embeddings } from '../answer/embedding-answer.js';
import { UNAUTHORIZED, errorAnswer, invalidInput } from '../answer/openai-error.js';
import { distorted, replacement } from '../answer/scripted-answer.js';
import { utter } from '../answer/utterance.js';
import { PROFILES } from '../profiles/profiles.js';
import type { Circumstances, Profile } from '../profiles/profile.js';
import type { Refusal } from '../provider/provider.js';
import type { Cost } from '../provider/scope.js';
import type { Simulation } from './simulation.js';
import { openSink } from './sink.js';
import type { Speaker, Tempo } from './speaker.js';

/** One HTTP call, read whole. */
export interface HttpCall {
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly response: ServerResponse;
}

/** A well-formed call: who asks what, what it may cost, and how to answer it. */
interface ModelCall {
  readonly key: string;
  readonly model: string;
  readonly cost: Cost;
  answer(headers: HeaderMap): Answer;
}

const AT_ONCE: Tempo = { firstTokenMs: 0, tokensPerSecond: 0 };

/** When the call was read whole, in milliseconds of the wall clock; `created` has whole seconds only. */
const RECEIVED_AT = 'x-sim-received-at';

/** Models that are there before anybody names one. */
const STANDARD_MODELS = ['gemini-2.5-pro', 'gemini-2.5-flash', 'sim-embedding'];

/** The provider's endpoints: script first, then quotas, then the model. */
export class ModelApi {
  constructor(
    private readonly simulation: Simulation,
    private readonly speaker: Speaker,
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {}

  /** `POST /v1/chat/completions` */
  async chat(call: HttpCall): Promise<void> {
    return this.model(call, ChatRequest, (key, request, turn) => this.chatCall(key, request, turn));
  }

  /** `POST /v1/embeddings` */
  async embeddings(call: HttpCall): Promise<void> {
    return this.model(call, EmbeddingRequest, (key, request) => ({
      key,
      model: request.model,
      cost: { prompt: countInputs(request), output: 0 },
      answer: (headers) => embeddings(request, this.simulation.behaviour.seed, headers),
    }));
  }

  /** `GET /v1/models`; it costs nothing and is in no ledger. */
  async models(call: HttpCall): Promise<void> {
    return this.free(call, () => jsonAnswer(200, { object: 'list', data: this.modelIds().map(modelObject) }));
  }

  /** `GET /v1/models/{id}` */
  async modelById(call: HttpCall, id: string): Promise<void> {
    return this.free(call, () => {
      if (this.modelIds().includes(id)) return jsonAnswer(200, modelObject(id));
      const message = 'Nobody has configured or called this model yet.';
      return errorAnswer(404, {
        message,
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      });
    });
  }

  private modelIds(): readonly string[] {
    return [...new Set([...STANDARD_MODELS, ...this.simulation.provider.models()])];
  }

  private async free(call: HttpCall, answer: () => Answer): Promise<void> {
    return this.say(keyOf(call.headers) === undefined ? UNAUTHORIZED : answer(), call.response);
  }

  /** A malformed call that names its model is received and refused; without a model nobody is there to book it to. */
  private async model<Request>(
    { headers, body, response }: HttpCall,
    schema: z.ZodType<Request>,
    read: (key: string, request: Request, turn: number) => ModelCall,
  ): Promise<void> {
    const key = keyOf(headers);
    if (key === undefined) return this.say(UNAUTHORIZED, response);
    const parsed = schema.safeParse(body);
    const turn = this.simulation.nextCall();
    if (parsed.success) return this.serve(read(key, parsed.data, turn), response, turn);
    const model = modelOf(body);
    if (model !== undefined) this.simulation.provider.refuse(key, model);
    return this.say(errorAnswer(400, invalidInput(parsed.error)), response);
  }

  private async serve(call: ModelCall, response: ServerResponse, turn: number): Promise<void> {
    const { provider, faults, behaviour } = this.simulation;
    const { key, model } = call;
    const receivedAt = this.clock.epochNow();
    const fault = faults.peek(key, model);
    const scripted = fault && replacement(fault);
    if (scripted) {
      faults.spend(key, model);
      provider.refuse(key, model);
      return this.speaker.speak(scripted, AT_ONCE, openSink(response, this.timers, fault));
    }
    const running = provider.admit(key, model, call.cost);
    if (running.outcome === 'refused') return this.say(this.refusal(running, model), response);
    if (fault) faults.spend(key, model);
    const answer = call.answer({
      ...this.profile.quotaHeaders(running.standings(), this.circumstances(model)),
      'x-request-id': `req_sim_${turn}`,
      [RECEIVED_AT]: String(receivedAt),
    });
    const sink = openSink(response, this.timers, fault);
    return this.speaker.speak(fault ? distorted(answer, fault) : answer, behaviour, sink, running);
  }

  private chatCall(key: string, request: ChatRequest, turn: number): ModelCall {
    const { behaviour } = this.simulation;
    const utterance = utter(request, behaviour, turn);
    const streams = request.stream === true;
    const tells = !streams || request.stream_options?.include_usage === true;
    const envelope: Envelope = {
      id: `chatcmpl-sim-${turn}`,
      created: Math.floor(this.clock.epochNow() / 1000),
      model: request.model,
      promptTokens: countPrompt(request),
      tellsUsage: tells && behaviour.usage === 'final',
    };
    const asked = request.max_completion_tokens ?? request.max_tokens ?? utterance.tokens;
    return {
      key,
      model: request.model,
      cost: { prompt: envelope.promptTokens, output: asked },
      answer: (headers) => (streams ? streamedChat : plainChat)(utterance, envelope, headers),
    };
  }

  private refusal(refusal: Refusal, model: string): Answer {
    const about = this.circumstances(model);
    const { status = 429, headers, body } = this.profile.refuse(refusal, about);
    const all = { ...this.profile.quotaHeaders(refusal.standings, about), ...headers };
    if (typeof body !== 'string') return jsonAnswer(status, body, all);
    return textAnswer(status, body, { 'content-type': 'text/plain; charset=utf-8', ...all });
  }

  private say(answer: Answer, response: ServerResponse): Promise<void> {
    return this.speaker.speak(answer, AT_ONCE, openSink(response, this.timers, undefined));
  }

  private get profile(): Profile {
    return PROFILES[this.simulation.behaviour.profile];
  }

  private circumstances(model: string): Circumstances {
    const { windowSeconds } = this.simulation.provider.quotas.default;
    return { model, windowMs: windowSeconds * 1000, now: this.clock.epochNow() };
  }
}

function keyOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function modelOf(body: unknown): string | undefined {
  const model = typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined;
  return typeof model === 'string' && model !== '' ? model : undefined;
}

function modelObject(id: string) {
  return { id, object: 'model', created: 1_767_225_600, owned_by: 'weir-simulator' };
}
