import { quote } from '../api/go-text.js';
import { messageOf } from '../api/message-of.js';
import { sortTexts } from '../api/text-order.js';
import type { Metrics } from '../runtime/metrics.js';
import type { TextResult } from './request.js';

/** A named health check. Resolves to undefined if the server is healthy in this respect, otherwise to the problem. */
export interface HealthCheck {
  readonly name: string;
  /** Whether the check is part of /readyz only; by default it is part of all three paths. */
  readonly onlyReady?: boolean;
  check(): Promise<string | undefined>;
}

/**
 * Called for every check that is part of a response of one of the three paths. A check that is requested alone
 * (`/livez/ping`) is not reported.
 */
export type HealthObserver = (check: string, endpoint: string, holds: boolean) => void;

/** Returns an observer that counts health checks by name and path. */
export function healthMetrics(metrics: Metrics): HealthObserver {
  const last = metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: '1 if the health check passed when it was last run, 0 otherwise.',
    labels: ['name', 'type'],
  });
  const total = metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks, by result.',
    labels: ['name', 'type', 'status'],
  });
  return (name, type, holds) => {
    last.set({ name, type }, holds ? 1 : 0);
    total.add({ name, type, status: holds ? 'success' : 'error' });
  };
}

const headers = { 'X-Content-Type-Options': 'nosniff' };
const text = (code: number, body: string): TextResult => ({ type: 'text', code, text: body, headers });

export const pageNotFound: TextResult = text(404, '404 page not found\n');

/** Returns the response for /healthz, /livez, /readyz, or a single check below them. */
export async function health(
  checks: readonly HealthCheck[],
  path: string,
  query: { all(name: string): readonly string[]; get(name: string): string | undefined },
  observed: HealthObserver = () => {},
): Promise<TextResult> {
  const [endpoint = '', ...below] = path.slice(1).split('/');
  const one = below.join('/');
  const selected = checks.filter(({ onlyReady }) => endpoint === 'readyz' || onlyReady !== true);
  if (one !== '') {
    const found = selected.find(({ name }) => name === one);
    if (found === undefined) return pageNotFound;
    const wrong = await problemOf(found);
    return wrong === undefined
      ? { type: 'text', code: 200, text: 'ok', headers: {} }
      : text(500, `internal server error: ${wrong}\n`);
  }
  const excluded = new Set(query.all('exclude'));
  const unknown = new Set(excluded);
  const lines: string[] = [];
  let failed = false;
  const problems = await Promise.all(selected.map((one) => (excluded.has(one.name) ? undefined : problemOf(one))));
  for (const [at, { name }] of selected.entries()) {
    if (excluded.has(name)) {
      unknown.delete(name);
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const wrong = problems[at];
    observed(name, endpoint, wrong === undefined);
    failed ||= wrong !== undefined;
    lines.push(wrong === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`);
  }
  if (unknown.size > 0) {
    const names = sortTexts([...unknown])
      .map(quote)
      .join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (failed) return text(500, `${lines.join('\n')}\n${endpoint} check failed\n`);
  return text(200, query.get('verbose') === undefined ? 'ok' : `${lines.join('\n')}\n${endpoint} check passed\n`);
}

/** Runs a check; a check that throws has failed. */
const problemOf = async ({ check }: HealthCheck): Promise<string | undefined> => {
  try {
    return await check();
  } catch (error) {
    return messageOf(error);
  }
};
