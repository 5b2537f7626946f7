/** Log lines for people: one line each, time, level, message, then the fields as `name=value`. */

const colours = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
const levelColours: Readonly<Record<string, keyof typeof colours>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
};

/** Formats one line of JSON as the logger writes it; anything else comes back as it is, made safe for a terminal. */
export function prettyLine(json: string, options: { readonly colour: boolean }): string {
  const paint = (colour: keyof typeof colours, text: string): string =>
    options.colour ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text;
  const fields = parse(json);
  if (fields === undefined) return `${visible(json.trimEnd())}\n`;
  const { time, level, msg, err, ...rest } = fields;
  const label = String(level ?? 'info');
  const head = [
    paint('dim', String(time ?? '').slice(11, 23)),
    paint(levelColours[label] ?? 'cyan', label.toUpperCase().padEnd(5)),
    visible(String(msg ?? '')),
  ];
  const tail = Object.entries(rest).map(([name, value]) => `${paint('cyan', visible(name))}=${shown(value)}`);
  const error = err === undefined ? [] : [`${paint('red', 'err')}=${shown(errorText(err))}`];
  return `${[...head, ...tail, ...error].join(' ')}\n`;
}

function parse(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const errorText = (err: unknown): unknown =>
  typeof err === 'object' && err !== null && 'message' in err ? err.message : err;

const plain = /^[\w./:@*+-]+$/;
const shown = (value: unknown): string =>
  typeof value === 'string' && plain.test(value) ? value : visible(JSON.stringify(value) ?? 'undefined');

/** Control characters written out, so that nothing logged can steer a terminal. */
const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
