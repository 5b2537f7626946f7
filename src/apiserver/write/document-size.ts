import { type ApiError, entityTooLarge } from '../../api/errors.js';
import { maxRequestBytes } from '../../api/request-size.js';

/** What of the object before bears on what it may come to. */
export interface SizeBefore {
  /** Of its document, in bytes. */
  readonly bytes: number;
  readonly isTerminating: boolean;
}

/**
 * Why a document of so many bytes is not stored; undefined: it is. An object may be as large as a body, everything counted: in
 * JSON, with its defaults and `managedFields`. Without a limit each of many patches could add a body's length. What is larger
 * already may shrink, and what is being deleted has as much again, so that those who hold it can note that they let go of it.
 */
export function tooLargeToStore(bytes: number, before?: SizeBefore): ApiError | undefined {
  const limit = before?.isTerminating === true ? 2 * maxRequestBytes : maxRequestBytes;
  if (bytes <= limit || bytes <= (before?.bytes ?? 0)) return undefined;
  return entityTooLarge(
    `the object would be stored as ${bytes} bytes of JSON, its managedFields included; limit is ${limit}`,
  );
}
