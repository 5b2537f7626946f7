import type { TextResult } from './request.js';

/** A named condition of a healthy server. Answers nothing when it holds, what is wrong otherwise. */
export interface HealthCheck {
  readonly name: string;
  /** Also part of /livez. Default true. */
  readonly live?: boolean;
  check(): Promise<string | undefined>;
}

const headers = { 'X-Content-Type-Options': 'nosniff' };
const text = (code: number, body: string): TextResult => ({ type: 'text', code, text: body, headers });

export const pageNotFound: TextResult = text(404, '404 page not found\n');

/** /healthz, /livez, /readyz and one check below them. */
export async function health(
  checks: readonly HealthCheck[],
  path: string,
  query: { all(name: string): readonly string[]; get(name: string): string | undefined },
): Promise<TextResult> {
  const [endpoint = '', one] = path.slice(1).split('/');
  const mine = checks.filter(({ live }) => endpoint !== 'livez' || live !== false);
  if (one !== undefined && one !== '') {
    const found = mine.find(({ name }) => name === one);
    if (found === undefined) return pageNotFound;
    const wrong = await found.check();
    return wrong === undefined ? text(200, 'ok') : text(500, `internal server error: ${wrong}\n`);
  }
  const excluded = new Set(query.all('exclude').flatMap((names) => names.split(',')));
  const lines: string[] = [];
  let failed = false;
  for (const { name, check } of mine) {
    if (excluded.delete(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const wrong = await check();
    failed ||= wrong !== undefined;
    lines.push(wrong === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`);
  }
  if (excluded.size) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (failed) return text(500, `${lines.join('\n')}\n${endpoint} check failed\n`);
  return text(200, query.get('verbose') === undefined ? 'ok' : `${lines.join('\n')}\n${endpoint} check passed\n`);
}
