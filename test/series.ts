import type { Metrics } from '../src/runtime/metrics.js';

/** Returns the series of a metric (for a histogram, with its suffix) in their order, without the name. */
export async function seriesOf(metrics: Metrics, name: string): Promise<readonly string[]> {
  const { text } = await metrics.expose();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => line.slice(name.length));
}
