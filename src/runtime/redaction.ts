/** Keeps secrets out of log lines: members recognized by their names, and texts recognized by their form. */

const censored = '[redacted]';
const secretMembers =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|password|passphrase|secret|secrets|token|id-?token|access-?token|refresh-?token|bearer-?token|client-?secret|private-?key|client-?key|key-?pem|client-key-data|stringdata)$/i;
/** Each alternative is tried wherever it could begin, so its lookahead is bounded or ends where the next one begins. */
const secretTexts =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|\beyJ[\w-]{8,1024}\.[\w-]{8,}\.[\w-]*|\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/g;

/** Limits beyond which values are cut in log lines. */
const limits = { depth: 6, members: 100, text: 8_192 };

const cleanText = (text: string): string =>
  withoutTokens(text.length > limits.text ? `${text.slice(0, limits.text)}…` : text).replace(secretTexts, censored);

/** Removes tokens from the parameters of URLs in a text, however their names are spelt. */
export const withoutTokens = (text: string): string =>
  text.replace(/([?&;]([^=?&;\s]*)=)[^&;\s]*/g, (parameter, beginning: string, name: string) =>
    new URLSearchParams(name.toLowerCase()).has('access_token') ? `${beginning}${censored}` : parameter,
  );

/**
 * Returns a copy that is safe to log. Errors become their message, stack and own members; cycles, unusual values and values
 * that fail when read become texts.
 */
export const redacted = (value: unknown): unknown => clean(value, 0, []);

const unreadable = '[unreadable]';

function clean(value: unknown, depth: number, above: readonly object[]): unknown {
  try {
    return copyOf(value, depth, above);
  } catch {
    return unreadable;
  }
}

function copyOf(value: unknown, depth: number, above: readonly object[]): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (depth >= limits.depth) return '[deep]';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const inside = [...above, value];
  if (Array.isArray(value)) return value.slice(0, limits.members).map((item) => clean(item, depth + 1, inside));
  const members = value instanceof Error ? errorMembers(value) : membersOf(value);
  return Object.fromEntries(
    members
      .slice(0, limits.members)
      .map(([name, inner]) => [
        name,
        secretMembers.test(name) && typeof inner !== 'boolean' ? censored : clean(inner, depth + 1, inside),
      ]),
  );
}

type Member = readonly [name: string, value: unknown];

function member(of: object, name: string): unknown {
  try {
    return (of as Readonly<Record<string, unknown>>)[name];
  } catch {
    return unreadable;
  }
}

const membersOf = (value: object): readonly Member[] => Object.keys(value).map((name) => [name, member(value, name)]);

function errorMembers(error: Error): readonly Member[] {
  const stack = member(error, 'stack');
  const cause = member(error, 'cause');
  return [
    ['type', member(error, 'name')],
    ['message', member(error, 'message')],
    ...membersOf(error).filter(([name]) => name !== 'name' && name !== 'cause'),
    ...(stack === undefined ? [] : [['stack', stack] as const]),
    ...(cause === undefined ? [] : [['cause', cause] as const]),
  ];
}
