import type { Readable } from 'node:stream';
import { errorFromStatus } from '../api/errors.js';
import { parseJson } from '../api/json-text.js';
import { type ApiObject, hasMetadata } from '../api/object.js';
import type { WatchEvent } from './client.js';

/** The maximum length of an event, more than the largest object takes. */
const maxLineBytes = 64 * 1_048_576;
const newline = 0x0a;

/** Splits a stream into lines, without the line breaks, in linear time. Fails on a line beyond the limit. */
export async function* linesOf(stream: Readable, limit = maxLineBytes): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(newline, start); end >= 0; end = chunk.indexOf(newline, start)) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > limit) throw new Error(`a line of the watch is longer than ${limit} bytes`);
  }
  if (length > 0) throw new Error('the watch ended in the middle of an event');
}

const initialEventsEnd = 'k8s.io/initial-events-end';

/**
 * Parses one line of a watch. Throws the failure that an ERROR event reports, and an error if the line is not an event.
 */
export function watchEvent<T extends ApiObject>(line: string): WatchEvent<T> {
  const { type, object } = parse(line);
  if (type === 'ERROR') throw errorFromStatus(object, 500, 'the watch failed');
  const isChange = type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
  if (!isChange && type !== 'BOOKMARK')
    throw new Error(`the watch sent an event of unknown type ${JSON.stringify(type)}`);
  if (!hasMetadata(object)) throw new Error('the watch sent an object without metadata');
  if (isChange) return { type, object: object as T };
  const { resourceVersion = '', annotations } = object.metadata;
  return { type, resourceVersion, initialEventsEnd: annotations?.[initialEventsEnd] === 'true' };
}

function parse(line: string): { readonly type: string; readonly object: object } {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (cause) {
    throw new Error('the watch sent a line that is not JSON', { cause });
  }
  if (typeof value === 'object' && value !== null && 'type' in value && 'object' in value) {
    const { type, object } = value;
    if (typeof type === 'string' && typeof object === 'object' && object !== null) {
      return { type, object };
    }
  }
  throw new Error('the watch sent a line that is not an event');
}
