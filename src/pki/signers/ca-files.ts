import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../../runtime/clock.js';
import { type Logger, silentLogger } from '../../runtime/logger.js';
import { type CertificateAuthority, loadCertificateAuthority } from '../certificate-authority.js';

export interface CaFilesOptions {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** How often the files are looked at even if nothing told of a change. Default: a minute. */
  readonly checkEveryMs?: number;
}

/** A CA in two files that may be replaced at any time. */
export interface CaFiles {
  /** The newest pair that belonged together. */
  current(): CertificateAuthority;
  /** Reads the files now. Answers whether another CA was taken; a pair that does not match leaves the old one. */
  reload(): Promise<boolean>;
  /** Looks at the files until the signal aborts. Resolves then. */
  watch(signal: AbortSignal): Promise<void>;
}

/** Opens a CA kept in files. Fails if the files cannot be read or are no pair (PkiError). */
export async function openCaFiles(options: CaFilesOptions): Promise<CaFiles> {
  const { certificateFile, keyFile, clock = systemClock, log = silentLogger, checkEveryMs = 60_000 } = options;

  const read = async (): Promise<{ readonly certificate: string; readonly key: string }> => {
    const [certificate, key] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')]);
    return { certificate, key };
  };

  let pair = await read();
  let current = loadCertificateAuthority({ ...pair, clock });

  const reload = async (): Promise<boolean> => {
    try {
      const found = await read();
      if (found.certificate === pair.certificate && found.key === pair.key) return false;
      current = loadCertificateAuthority({ ...found, clock });
      pair = found;
      log.info({ certificateFile, keyId: current.keyId }, 'reloaded CA');
      return true;
    } catch (error) {
      log.warn({ certificateFile, keyFile, err: error }, 'kept the CA: its files are no pair');
      return false;
    }
  };

  return {
    current: () => current,
    reload,
    async watch(signal) {
      const directories = new Set([dirname(certificateFile), dirname(keyFile)]);
      while (!signal.aborted) {
        const done = new AbortController();
        const stop = (): void => done.abort();
        const watchers = [...directories].flatMap((directory) => watcherOf(directory, stop) ?? []);
        signal.addEventListener('abort', stop, { once: true });
        await reload();
        await clock.sleep(checkEveryMs, done.signal);
        signal.removeEventListener('abort', stop);
        for (const watcher of watchers) watcher.close();
        await clock.sleep(settleMs, signal);
      }
    },
  };
}

/** Two files are rarely replaced at the very same time. */
const settleMs = 50;

/**
 * Tells of changes in a directory. Directories are watched and not the files, because files are replaced by renaming.
 * undefined where the directory cannot be watched now; the regular look finds the change then.
 */
function watcherOf(directory: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(directory, { persistent: false }, changed).on('error', changed);
  } catch {
    return undefined;
  }
}
