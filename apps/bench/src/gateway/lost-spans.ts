const COUNTER = /^otel_sdk_processor_span_processed_total\{([^}]*)\} (\d+)/gm;

/** Of the spans that a gateway was to export, the share that it dropped. Those would make it look cheaper than it is. */
export async function lostSpans(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return lostShare(text);
}

/** The same, read off Prometheus text; 0 where nothing was to be exported. */
export function lostShare(text: string): number {
  let lost = 0;
  let all = 0;
  for (const [, labels = '', count] of text.matchAll(COUNTER)) {
    all += Number(count);
    if (labels.includes('error_type=')) lost += Number(count);
  }
  return all === 0 ? 0 : lost / all;
}
