import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';

/**
 * A signer in a separate process, written in any language. Requests and responses are lines of JSON on its standard
 * input and output, many at a time, answered in any order; docs/signers.md describes the protocol. The process is
 * started when it is first needed, and again when it ends; requests under way then fail, and the caller retries them.
 * Its standard error goes to the log.
 */
export interface ProcessSignerOptions {
  /** One signer name, or every name under `domain/*`. */
  readonly serves: string;
  /** Program and arguments; no shell. */
  readonly command: readonly [string, ...string[]];
  /** Environment of the process. Default: PATH, HOME, LANG and TMPDIR of ours, nothing else. */
  readonly env?: NodeJS.ProcessEnv;
  /** How long one response may take, in milliseconds. Default 20 s. */
  readonly timeoutMs?: number;
  /** It issues certificates to pods, too. Default false. */
  readonly pods?: boolean;
  /** Requests under way at a time; more wait. Default 64. */
  readonly concurrency?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
}
