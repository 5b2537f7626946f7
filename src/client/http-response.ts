import type { IncomingMessage } from 'node:http';
import { ApiError, errorFromStatus, isReason, type Reason } from '../api/errors.js';
import { parseJson } from '../api/json-text.js';
import {
  type ApiObject,
  groupResource,
  hasMetadata,
  isList,
  isObject,
  type List,
  type ResourceType,
} from '../api/object.js';

/** Reads and validates responses. */

/** The maximum size of a response, below that of the longest string. */
const maxBodyBytes = 256 * 1_048_576;

/**
 * Returns the body of a response as JSON; undefined if it is empty. Throws the failure that it reports, and an Error if
 * it is not JSON. `type` is that of the requested collection or object.
 */
export async function readResponse(answer: IncomingMessage, call: string, type?: ResourceType): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > maxBodyBytes) throw new Error(`the answer is longer than ${maxBodyBytes} bytes`);
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString('utf8');
  const code = answer.statusCode ?? 0;
  if (code < 200 || code >= 300) throw failure(text, code, call, type);
  if (text === '') return undefined;
  try {
    return parseJson(text);
  } catch (cause) {
    throw new Error(`the server answered with code ${code} and no JSON: ${beginningOf(text)}`, { cause });
  }
}

const beginningOf = (text: string): string => text.trim().slice(0, 1_024);

/**
 * Converts an error response to an ApiError. If it comes from a proxy or filter, it is plain text rather than a Status.
 */
function failure(text: string, code: number, call: string, type: ResourceType | undefined): ApiError {
  const body = parseOrUndefined(text);
  const notServed = type && `the server does not serve ${groupResource(type)} in version ${type.version}: `;
  const answered = `${call}: the server answered with code ${code}`;
  if (isObject(body) && body['kind'] === 'Status') {
    const error = errorFromStatus(body, code, answered);
    // If the type is served and only the object does not exist, the Status names the object.
    const isServed = notServed === undefined || !isReason(error, 'NotFound') || error.details?.name;
    return isServed ? error : errorFromStatus({ ...body, message: `${notServed}${error.message}` }, code, answered);
  }
  const beginning = beginningOf(text);
  const prefix = code === 404 && body === undefined ? (notServed ?? '') : '';
  const message = beginning === '' ? `${prefix}${answered}` : `${prefix}${answered}: ${beginning}`;
  return new ApiError({ message, code, reason: body === undefined ? plainReasons[code] : undefined });
}
const plainReasons: Readonly<Record<number, Reason>> = { 401: 'Unauthorized', 404: 'NotFound' };

function parseOrUndefined(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Decodes a discovery document: an object whose list members are lists. Throws Error for anything else. */
export function decodeDiscovery(answer: unknown): unknown {
  const lists = isObject(answer)
    ? ['items', 'versions', 'groups', 'resources'].map((name) => answer[name] ?? [])
    : [undefined];
  if (lists.every((list) => isList(list) && list.every((one) => typeof one === 'string' || isObject(one))))
    return answer;
  throw new Error('the answer of the server is not a discovery document');
}

/** Decodes a list; an empty one may lack `items` or have `null`. */
export function decodeList<T extends ApiObject>(answer: unknown): Partial<List<T>> {
  const items = isObject(answer) ? (answer['items'] ?? []) : undefined;
  if (isList(items) && items.every(hasMetadata)) return answer as Partial<List<T>>;
  throw new Error('the answer of the server is not a list of objects');
}

/** Decodes an object. A Status is accepted only with `orStatus`, for creations that return one, such as evictions. */
export function decodeObject<T extends ApiObject>(answer: unknown, { orStatus }: { readonly orStatus: boolean }): T {
  if (hasMetadata(answer) && (orStatus || answer.kind !== 'Status')) return answer as T;
  throw new Error('the answer of the server is not an object');
}
