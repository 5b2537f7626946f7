import type { Answer } from './caller.js';
import type { Observed, Step } from './transcript.js';

/** Replaces values that differ between servers by placeholders, so that the rest can be compared byte by byte. */

const timeLike = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const uuidLike = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Matches texts that quote storage keys, versions or whole stored objects. */
const quotations: readonly (readonly [RegExp, string])[] = [
  [/Key: \/[^,\s]+/g, 'Key: <key>'],
  [
    /(ResourceVersion in the precondition) \(\d+\) (does not match the ResourceVersion in record) \(\d+\)/g,
    '$1 (<resourceVersion>) $2 (<resourceVersion>)',
  ],
  [/in scheme "[^"]+"/g, 'in scheme "<scheme>"'],
  [/storageVersionHash: \S+/g, 'storageVersionHash: <hash>'],
  [/Invalid value: "\{\\"(?:apiVersion|kind|metadata).*\}(?=": )/gs, 'Invalid value: "{<object>}'],
];

const placeholders: ReadonlyMap<string, string> = new Map([
  ['uid', '<uid>'],
  ['resourceVersion', '<resourceVersion>'],
  ['creationTimestamp', '<time>'],
  ['deletionTimestamp', '<time>'],
  ['time', '<time>'],
  ['lastTransitionTime', '<time>'],
  ['lastUpdateTime', '<time>'],
  ['expirationTimestamp', '<time>'],
  ['continue', '<continue>'],
  ['token', '<token>'],
  ['selfLink', '<selfLink>'],
  ['storageVersionHash', '<hash>'],
  ['serverAddress', '<address>'],
]);

const comparedHeaders = [
  'content-type',
  'warning',
  'allow',
  'retry-after',
  'www-authenticate',
  'location',
  'cache-control',
];

const mask = (text: string): string =>
  quotations.reduce(
    (masked, [pattern, placeholder]) => masked.replace(pattern, placeholder),
    text.replace(timeLike, '<time>').replace(uuidLike, '<uid>'),
  );

/** Returns the placeholder for the value of a field if it differs between servers; otherwise undefined. */
function placeholderFor(name: string | undefined, path: string, value: string): string | undefined {
  const isGiven = (name === 'token' && path.endsWith('/spec/token')) || (name === 'resourceVersion' && value === '0');
  return name === undefined || value === '' || isGiven ? undefined : placeholders.get(name);
}

function normalise(value: unknown, ignored: readonly string[], path = '', name?: string): unknown {
  if (ignored.some((pattern) => path === pattern || path.startsWith(`${pattern}/`))) return '<ignored>';
  if (typeof value === 'string') return placeholderFor(name, path, value) ?? mask(value);
  if (Array.isArray(value)) return value.map((item, index) => normalise(item, ignored, `${path}/${index}`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key.replace(uuidLike, '<uid>'),
      normalise(item, ignored, `${path}/${key}`, key),
    ]),
  );
}

function cut(value: unknown, starts: readonly string[]): unknown {
  if (starts.length === 0) return value;
  if (typeof value === 'string') {
    const ends = starts
      .filter((start) => value.includes(start))
      .map((start) => value.indexOf(start) + start.length)
      .filter((end) => end < value.length);
    return ends.length === 0 ? value : `${value.slice(0, Math.min(...ends))}<cut>`;
  }
  if (Array.isArray(value)) return value.map((item) => cut(item, starts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cut(item, starts)]));
}

/** Returns a response in the form in which it is compared. */
export function observe({ status, headers, text }: Answer, { ignore = [], cut: starts = [], watch }: Step): Observed {
  const read = (part: string): unknown => {
    try {
      return normalise(JSON.parse(part), ignore);
    } catch {
      return mask(part);
    }
  };
  const body = watch === undefined ? (text === '' ? null : read(text)) : text.split('\n').filter(Boolean).map(read);
  const kept = comparedHeaders.flatMap((name): [string, unknown][] =>
    headers[name] === undefined || ignore.includes(`headers/${name}`) ? [] : [[name, mask(String(headers[name]))]],
  );
  return cut({ status, headers: Object.fromEntries(kept), body }, starts) as Observed;
}

/**
 * Sorts what has no defined order: causes, which a real server lists in the order of a Go map, and field owners, which
 * are sorted by the second of their writes.
 */
export function withoutOrder<T extends Partial<Observed>>(observed: T): T {
  return 'body' in observed ? { ...observed, body: ownersInOrder(causesInOrder(observed.body)) } : observed;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const by =
  (...names: readonly string[]) =>
  (a: Fields, b: Fields): number => {
    const [one, other] = [a, b].map((item) => JSON.stringify(names.map((name) => item[name])));
    return String(one) < String(other) ? -1 : 1;
  };

function causesInOrder(body: unknown): unknown {
  const details = isObject(body) ? body['details'] : undefined;
  const causes = isObject(details) ? details['causes'] : undefined;
  if (!isObject(body) || !isObject(details) || !Array.isArray(causes) || causes.length < 2) return body;
  const message = String(body['message'])
    .split(/, |\[|\]|\n/)
    .sort()
    .join(' ');
  return { ...body, message, details: { ...details, causes: [...causes].sort(by('field', 'message', 'reason')) } };
}

function ownersInOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ownersInOrder);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      name === 'managedFields' && Array.isArray(item) && item.every(isObject)
        ? [...item].sort(by('manager', 'operation', 'apiVersion', 'subresource'))
        : ownersInOrder(item),
    ]),
  );
}
