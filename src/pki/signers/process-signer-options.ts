import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';

/**
 * A signer in a separate process, written in any language. Requests and responses are lines of JSON on its standard
 * input and output, many at a time, answered in any order; docs/signers.md describes the protocol. The process is
 * started when it is first needed, and again when it ends; requests in progress then fail, and the caller retries them.
 * Its standard error goes to the log.
 */
export interface ProcessSignerOptions {
  /** A signer name, or `domain/*` for every name of a domain. */
  readonly serves: string;
  /** The program and its arguments; no shell is used. */
  readonly command: readonly [string, ...string[]];
  /** The environment of the process. Default: PATH, HOME, LANG and TMPDIR of this process only. */
  readonly env?: NodeJS.ProcessEnv;
  /** The time limit of one response, in milliseconds. Default 20 s. */
  readonly timeoutMs?: number;
  /** Whether it issues certificates to pods, too. Default false. */
  readonly pods?: boolean;
  /** The maximum number of requests in progress; more wait. Default 64. */
  readonly concurrency?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
}
