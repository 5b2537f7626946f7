import type { Revision } from '../store.js';
import type { LogMark, LogRecord } from './record.js';

/** What is added to and removed from the log in one step. */
export interface LogStep {
  /** In the order of their revisions, which follow the last one. */
  readonly added: readonly { readonly revision: Revision; readonly record: LogRecord }[];
  readonly removed: readonly Revision[];
  /** What holds after the removal. */
  readonly mark: LogMark;
}

/** One checksummed record per revision, on disk. */
export interface RecordLog {
  /**
   * What is added is durable when it resolves; what is removed may still be there after a crash, with the mark that was.
   * After a failure the log must not be written to again.
   */
  write(step: LogStep): Promise<void>;
  /** Notes up to where writers were told that their writes are durable. */
  acknowledge(revision: Revision): void;
  /** Bytes on the disk. */
  size(): Promise<number>;
  close(): Promise<void>;
}
