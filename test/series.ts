import type { Metrics } from '../src/runtime/metrics.js';

/** The series of a metric (of a histogram: with its suffix) in the order they came, without the name. */
export async function seriesOf(metrics: Metrics, name: string): Promise<readonly string[]> {
  const { text } = await metrics.expose();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => line.slice(name.length));
}
