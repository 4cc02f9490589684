import { unknownModel } from '../chat/call-reader.js';

/** A model in OpenAI's shape. */
export interface Model {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since 1970. When a provider made it is not known here, so it is when this gateway started. */
  readonly created: number;
  readonly owned_by: 'weir';
}

/** The configured routes, as a list of models. */
export class ModelList {
  /** @param routes asked anew each time, so that a reload is in force at once */
  constructor(
    private readonly routes: () => Readonly<Record<string, unknown>>,
    private readonly startedAt: number,
  ) {}

  /** In the order of the configuration. */
  all(): readonly Model[] {
    return Object.keys(this.routes()).map((id) => this.describe(id));
  }

  /** @throws GatewayError `model_not_found` */
  named(id: string): Model {
    if (!Object.hasOwn(this.routes(), id)) throw unknownModel(id);
    return this.describe(id);
  }

  private describe(id: string): Model {
    return { id, object: 'model', created: this.startedAt, owned_by: 'weir' };
  }
}
