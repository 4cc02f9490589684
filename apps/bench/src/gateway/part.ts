import { callFor, type Door } from './call-window.js';
import { startFakeProvider } from './fake-provider.js';
import type { Load } from './loads.js';
import { startTraceSink } from './trace-sink.js';
import { startByteProxy } from './undici-proxy.js';

/** What a process of this bench is told to be. Servers answer with their URL, callers with what they counted. */
export type PartOrder =
  | { readonly part: 'provider' }
  | { readonly part: 'sink' }
  | { readonly part: 'proxy'; readonly provider: string }
  | { readonly part: 'callers'; readonly door: Door; readonly load: Load; readonly seconds: number };

/** The process: takes orders until it is ended. */
export async function partProcess(): Promise<void> {
  process.on('message', (order: PartOrder) => {
    void obey(order).then((answer) => process.send?.(answer));
  });
}

function obey(order: PartOrder): Promise<unknown> {
  switch (order.part) {
    case 'provider':
      return startFakeProvider();
    case 'sink':
      return startTraceSink();
    case 'proxy':
      return startByteProxy(order.provider);
    case 'callers':
      return callFor(order.door, order.load, order.seconds);
  }
}
