import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from './clock.js';
import type { Logger } from './logger.js';

/** A text: itself, or a file that is followed as it changes. */
export type TextSource = string | { readonly file: string };

export interface Following {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** How often the file is looked at even if nothing told of a change. Default: a minute. */
  readonly checkEveryMs?: number;
}

/**
 * Hands the text to `take`: now, and after every change of the file until the signal aborts. Fails if the file cannot be
 * read now or `take` throws now. Later a text that cannot be read or taken is logged, and what was taken before stays.
 */
export async function followText(
  source: TextSource,
  take: (text: string) => void | Promise<void>,
  { clock, log, signal, checkEveryMs = 60_000 }: Following,
): Promise<void> {
  if (typeof source === 'string') return take(source);
  const { file } = source;
  let text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`cannot read ${file}: ${error.code ?? error.message}`, { cause: error });
  });
  try {
    await take(text);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }

  const look = async (): Promise<void> => {
    try {
      const found = await readFile(file, 'utf8');
      if (found === text) return;
      // Remembered even if it is not taken, so that a bad text is told of once.
      text = found;
      await take(found);
      log.info({ file }, 'reloaded');
    } catch (error) {
      log.warn({ file, err: error }, 'kept what was read before');
    }
  };
  void (async () => {
    while (!signal.aborted) {
      // Watched before it is read, so that no change falls between the two.
      const changed = watched(dirname(file), signal);
      await look();
      await clock.sleep(checkEveryMs, changed);
      await clock.sleep(settleMs, signal);
    }
  })();
}

/** What is replaced is often not complete at the first word of it. */
const settleMs = 50;

/**
 * Aborted at the first change in a directory, or with the signal. The directory and not the file is watched, because
 * files are replaced by renaming; where it cannot be watched, the regular look finds the change.
 */
function watched(directory: string, signal: AbortSignal): AbortSignal {
  const changed = new AbortController();
  let watcher: FSWatcher | undefined;
  const stop = (): void => {
    watcher?.close();
    signal.removeEventListener('abort', stop);
    changed.abort();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    watcher = watch(directory, { persistent: false }, stop).on('error', stop);
  } catch {
    watcher = undefined;
  }
  return changed.signal;
}
