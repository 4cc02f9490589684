import { getEventListeners } from 'node:events';

/** Remembers every signal that anybody listened to, so that a test can ask who still does. */
export class ListenerCensus {
  private readonly signals = new Set<AbortSignal>();
  private readonly spy: jest.SpyInstance;

  constructor() {
    const { signals } = this;
    const original = EventTarget.prototype.addEventListener;
    this.spy = jest.spyOn(EventTarget.prototype, 'addEventListener').mockImplementation(function (
      this: EventTarget,
      ...args: Parameters<EventTarget['addEventListener']>
    ) {
      if (this instanceof AbortSignal && args[0] === 'abort') signals.add(this);
      original.apply(this, args);
    });
  }

  /** Signals that were listened to at all. */
  get seen(): number {
    return this.signals.size;
  }

  /** Listeners that are still there. */
  get left(): number {
    return [...this.signals].reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0);
  }

  end(): void {
    this.spy.mockRestore();
  }
}
