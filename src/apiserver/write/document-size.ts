import { type ApiError, entityTooLarge } from '../../api/errors.js';
import { maxRequestBytes } from '../../api/request-size.js';

/** The properties of the previous object that determine the size limit. */
export interface SizeBefore {
  /** The size of its document in bytes. */
  readonly bytes: number;
  readonly isTerminating: boolean;
}

/**
 * Returns the error for a document that is too large to be stored; undefined if it is not. An object may be as large as
 * a request body, with its defaults and `managedFields` in JSON. Without a limit, each of many patches could add the
 * size of another body. An object that is already larger may shrink, and one that is being deleted may be twice as
 * large, so that the holders of finalizers can record their release.
 */
export function tooLargeToStore(bytes: number, before?: SizeBefore): ApiError | undefined {
  const limit = before?.isTerminating === true ? 2 * maxRequestBytes : maxRequestBytes;
  if (bytes <= limit || bytes <= (before?.bytes ?? 0)) return undefined;
  return entityTooLarge(
    `the object would be stored as ${bytes} bytes of JSON, its managedFields included; limit is ${limit}`,
  );
}
