import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from './clock.js';
import { displayPath, pathErrorCause } from './display-path.js';
import type { Logger } from './logger.js';
import { readLimitedText } from './read-limited.js';

/** A text, or a file whose text is followed as it changes, with the name of the option that holds its path. */
export type TextSource = string | { readonly file: string; readonly option?: string };

export interface FollowOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Stops following. */
  readonly signal: AbortSignal;
  /** The name of the option that holds the text itself, for error messages. */
  readonly option?: string;
  /** Called when a file becomes unreadable; not called again until the file has been readable. */
  unreadable?(): void;
}

/** Thrown by `take` for a text that may be accepted later unchanged: it is passed again at the next check. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
}

/**
 * Passes the text to `take`: now, and after every change of the file until the signal aborts. Fails, naming the option,
 * if the file cannot be read now or `take` throws now. Later, a failure to read or take a text is logged, and the
 * previous text remains in use.
 */
export async function followText(
  source: TextSource,
  take: (text: string) => void | Promise<void>,
  following: FollowOptions,
): Promise<void> {
  if (typeof source === 'string') return named(following.option, () => take(source));
  const { file, option } = source;
  const opened = (): Promise<void> => followFiles([file], ([text = '']) => take(text), following);
  await named(option, opened);
}

const named = <T>(option: string | undefined, open: () => T | Promise<T>): T | Promise<T> =>
  option === undefined ? open() : prefixErrors(option, open);

/** Prefixes the message of an error that `open` throws with the name of what could not be opened. */
export async function prefixErrors<T>(name: string, open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Like `followText`, for files that belong together: all texts are passed whenever one of them changes. */
export async function followFiles(
  files: readonly string[],
  take: (texts: readonly string[]) => void | Promise<void>,
  { clock, log, signal, unreadable }: FollowOptions,
): Promise<void> {
  const file = files.join(', ');
  let texts = await Promise.all(files.map(readText));
  await prefixErrors(file, () => take(texts));

  const warn = (error: unknown): void => {
    if (!signal.aborted) log.warn({ file, err: error }, keptMessage);
  };
  // Logged once and not at every check: the log itself may be written to a watched directory.
  let isUnreadable = false;
  const readOnce = async (): Promise<void> => {
    try {
      const found = await Promise.all(files.map(readLimitedText)).catch((error: unknown) => {
        if (isUnreadable || signal.aborted) return;
        isUnreadable = true;
        warn(error);
        unreadable?.();
      });
      if (found === undefined) return;
      // Files that are readable again are passed again, so that a reported failure is also reported as over.
      if (!isUnreadable && found.every((text, at) => text === texts[at])) return;
      isUnreadable = false;
      const before = texts;
      // Remembered even if they are not accepted, so that invalid texts are reported once.
      texts = found;
      try {
        await take(found);
      } catch (error) {
        if (error instanceof NotYet) texts = before;
        throw error;
      }
      log.info({ file }, 'reloaded');
    } catch (error) {
      warn(error);
    }
  };
  const directories = [...new Set(files.map((path) => dirname(path)))];
  void (async () => {
    while (!signal.aborted) {
      // The watch begins before the file is read, so that no change is missed in between.
      const { changed, stop } = watched(directories, signal);
      await readOnce();
      await clock.sleep(lookAgainMs, changed);
      stop();
      await clock.sleep(settleMs, signal);
    }
  })();
}

/** Reads the text of a file. Fails with one sentence that names the file. */
export const readText = (file: string): Promise<string> =>
  readLimitedText(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`cannot read ${displayPath(file)}: ${error.code ?? error.message}`, pathErrorCause(file, error));
  });

const keptMessage = 'still using the previous contents';

/** The interval at which files are checked even without a notification. */
const lookAgainMs = 60_000;
/** The delay after a notification, because a replacement is often not complete yet. */
const settleMs = 50;

/**
 * Watches directories. `changed` is aborted at the first change in one of them, with the signal, or by `stop`.
 * Directories rather than files are watched, because files are replaced by renaming; if one cannot be watched, the
 * regular check finds the change.
 */
function watched(directories: readonly string[], signal: AbortSignal): { readonly changed: AbortSignal; stop(): void } {
  const changed = new AbortController();
  const watchers: FSWatcher[] = [];
  const stop = (): void => {
    for (const watcher of watchers) watcher.close();
    signal.removeEventListener('abort', stop);
    changed.abort();
  };
  signal.addEventListener('abort', stop, { once: true });
  for (const directory of directories) {
    try {
      watchers.push(watch(directory, { persistent: false }, stop).on('error', stop));
    } catch {
      // Reported above.
    }
  }
  return { changed: changed.signal, stop };
}
