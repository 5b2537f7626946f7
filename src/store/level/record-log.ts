import type { Revision } from '../store.js';
import type { LogMark, LogRecord } from './record.js';

/** The additions to and removals from the log in one step. */
export interface LogStep {
  /** In the order of their revisions, which continue after the last one written. */
  readonly added: readonly { readonly revision: Revision; readonly record: LogRecord }[];
  readonly removed: readonly Revision[];
  /** The mark after the removal. */
  readonly mark: LogMark;
}

/** One checksummed record per revision, on disk. */
export interface RecordLog {
  /**
   * Resolves when the additions are durable; removed records may still be there after a crash, together with the
   * previous mark. After a failure, the log must not be written to again.
   */
  write(step: LogStep): Promise<void>;
  /** Records the last revision that was acknowledged to its writer as durable. */
  acknowledge(revision: Revision): void;
  /** Returns the number of bytes on disk. */
  size(): Promise<number>;
  close(): Promise<void>;
}
