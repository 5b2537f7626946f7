import { escapeControls } from './escape-controls.js';

/** Log lines for humans: one line each, with time, level and message, then the fields as `name=value`. */

const colours = { dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
const levelColours: Readonly<Record<string, keyof typeof colours>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
};

/** Formats a JSON line of the logger; any other text is returned with only its control characters escaped. */
export function prettyLine(json: string, options: { readonly colour: boolean }): string {
  const paint = (colour: keyof typeof colours, text: string): string =>
    options.colour ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text;
  const fields = parse(json);
  if (fields === undefined) return `${escapeControls(json.trimEnd())}\n`;
  const { time, level, msg, err, ...rest } = fields;
  const label = String(level ?? 'info');
  const head = [
    paint('dim', String(time ?? '').slice(11, 23)),
    paint(levelColours[label] ?? 'cyan', label.toUpperCase().padEnd(5)),
    escapeControls(String(msg ?? '')),
  ];
  const tail = Object.entries(rest).map(
    ([name, value]) => `${paint('cyan', escapeControls(name))}=${valueText(value)}`,
  );
  const error = err === undefined ? [] : [`${paint('red', 'err')}=${valueText(errorText(err))}`];
  const place = faultPlace(err);
  if (place !== undefined) error.push(`${paint('red', 'at')}=${valueText(place)}`);
  return `${[...head, ...tail, ...error].join(' ')}\n`;
}

function parse(json: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Returns the message of an error with those of its causes, because `fetch failed` alone does not say why. */
function errorText(err: unknown): unknown {
  if (!isFields(err) || !('message' in err)) return err;
  const { message, code, cause } = err;
  const own = message || code;
  const behind = cause === undefined ? '' : String(errorText(cause));
  return behind === '' || String(own).includes(behind) ? own : `${own}: ${behind}`;
}

/** Errors that JavaScript throws for faults of a program. */
const faults: readonly unknown[] = ['TypeError', 'ReferenceError', 'RangeError'];

/** Returns the location of a fault: the first line of the stack that is neither in Node.js nor in a package. */
const faultPlace = (err: unknown): string | undefined =>
  isFields(err) && faults.includes(err['type'])
    ? String(err['stack'])
        .split('\n')
        .find((line) => /^ +at /.test(line) && !/node:|node_modules/.test(line))
        ?.replace(/^ +at /, '')
    : undefined;

const plain = /^[\w./:@*+-]+$/;
const valueText = (value: unknown): string =>
  typeof value === 'string' && plain.test(value) ? value : escapeControls(JSON.stringify(value) ?? 'undefined');
