import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { seededRandom } from '@weir/kernel';

/** Five teams; the last one has no key that anybody knows. */
export const TEAMS = ['search', 'chat', 'batch', 'mail', 'play'] as const;
/** Three models of one account. */
export const MODELS = ['model-a', 'model-b', 'model-c'] as const;
/** Three templates, and none. */
export const TEMPLATES = ['faq', 'summary', 'triage', 'none'] as const;
/** Above this a body is too large for the gateway of these tests. */
export const BODY_LIMIT = 20_000;

/** One request. */
export interface Ask {
  readonly team: string;
  readonly template: string;
  readonly model: string;
  readonly stream: boolean;
  /** Instead of a question. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The key that a team calls with. */
export function keyOf(team: string): string {
  return `mixed-key-of-${team}`;
}

/** What each word of the gateway means to a caller, as docs/errors.md has it. */
const OUTCOME_OF: Readonly<Record<string, string>> = {
  ...words('rejected', ['invalid_request', 'model_not_found', 'body_too_large', 'upstream_rejected']),
  ...words('queue_timeout', ['wait_exceeds_deadline']),
  ...words('upstream_throttled', ['upstream_rate_limited']),
  ...words('client_throttled', ['account_parked', 'queue_full', 'team_share_exceeded', 'draining']),
  ...words('upstream_error', ['circuit_open', 'upstream_unavailable', 'upstream_protocol', 'upstream_auth']),
  ...words('upstream_error', ['upstream_timeout', 'stream_truncated']),
};

function words(outcome: string, codes: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(codes.map((code) => [code, outcome]));
}

/** An answer as far as it came. */
export interface Begun {
  readonly outgoing: ClientRequest;
  readonly head: Promise<IncomingMessage>;
}

/** Callers of every kind, who count for themselves how they fared. */
export class MixedCallers {
  /** By team, template and outcome. */
  readonly counts = new Map<string, number>();
  total = 0;
  private readonly random = seededRandom(11);
  private readonly agent = new Agent({ keepAlive: true, maxSockets: Infinity });

  constructor(private readonly url: string) {}

  close(): void {
    this.agent.destroy();
  }

  /** Any team with any template for any model; one in fifty asks badly, one in twenty does not like to wait. */
  any(models: readonly string[] = MODELS): Ask {
    const { random } = this;
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] ?? from[0]!;
    const ask = {
      team: pick(TEAMS),
      template: pick(TEMPLATES),
      model: pick(models),
      stream: random.next() < 0.6,
    };
    const mood = random.next();
    if (mood < 0.005) return { ...ask, body: '{ "model": ' };
    if (mood < 0.01) return { ...ask, body: bodyOf({ ...ask, model: 'nobody-has-this' }, 'hello') };
    if (mood < 0.015) return { ...ask, body: 'x'.repeat(BODY_LIMIT + 1) };
    if (mood < 0.02) return { ...ask, headers: { 'x-weir-priority': 'urgent' } };
    if (mood < 0.07) return { ...ask, headers: { 'x-weir-max-wait-ms': '20' } };
    return ask;
  }

  /** Asks so many times, `atOnce` of them in flight. */
  async run(count: number, atOnce: number, next: () => Ask = () => this.any()): Promise<void> {
    let left = count;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await this.ask(next());
    };
    await Promise.all(Array.from({ length: atOnce }, caller));
  }

  /** Asks, reads the whole answer, and counts. */
  async ask(ask: Ask): Promise<string> {
    const incoming = await this.begin(ask).head;
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    return this.count(ask, outcomeOf(incoming, text, ask.stream));
  }

  /** Asks, and leaves the rest to the test; it has to count by itself. */
  begin(ask: Ask): Begun {
    const body = ask.body ?? bodyOf(ask, `Question ${this.total}`);
    const outgoing = request(`${this.url}/v1/chat/completions`, {
      agent: this.agent,
      method: 'POST',
      headers: {
        authorization: `Bearer ${keyOf(ask.team)}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...(ask.template === 'none' ? {} : { 'x-prompt-template': ask.template }),
        ...ask.headers,
      },
    });
    const head = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
    });
    outgoing.end(body);
    return { outgoing, head };
  }

  count({ team, template }: Ask, outcome: string): string {
    const key = `${team} ${template} ${outcome}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.total += 1;
    return outcome;
  }
}

function bodyOf({ model, stream }: Ask, content: string): string {
  return JSON.stringify({ model, stream, max_tokens: 60, messages: [{ role: 'user', content }] });
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, text: string, stream: boolean): string {
  if (statusCode !== 200) {
    const code = String(headers['x-weir-reason']);
    return OUTCOME_OF[code] ?? `${statusCode} ${code}`;
  }
  const broken = /^event: error\ndata: (.*)$/m.exec(text)?.[1];
  if (broken !== undefined) {
    const { code } = (JSON.parse(broken) as { error: { code: string | number } }).error;
    // A provider's own word about its stream is handed on as it is.
    return typeof code === 'number' ? 'upstream_error' : (OUTCOME_OF[code] ?? code);
  }
  const whole = stream ? text.includes('data: [DONE]\n') : text.endsWith('}');
  return whole ? 'ok' : 'cut without a word';
}
