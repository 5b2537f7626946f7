import { type FileHandle, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from './make-directory.js';

/** Writes lines in the order they are passed; callers never wait. */
export interface LineSink {
  /** Returns false if the line was dropped, because too much is waiting or the sink has failed or is closed. */
  write(line: string): boolean;
  /** Writes the waiting lines unless that fails. Idempotent. */
  close(): Promise<void>;
}

export interface RotatingFileOptions {
  readonly path: string;
  /** The size after which a new file is started, in bytes; 0 for never. */
  readonly maxBytes: number;
  /** The number of full files kept in addition, `path.1` being the latest. With 0, a full file is removed. */
  readonly maxBackups: number;
  /**
   * The age after which full files are removed, in milliseconds, checked when a new file is started; 0 for never.
   * Default 0.
   */
  readonly maxAgeMs?: number;
  /** Returns the time of day. Default: the system's. */
  readonly now?: () => number;
  /** The maximum number of bytes that wait to be written. Default 64 MiB. */
  readonly maxWaiting?: number;
  /** Called whenever writing fails, with the number of lines lost. */
  readonly onFailure?: (error: unknown, lost: number) => void;
  /** Called if other users can read the file and its mode could not be changed, with the reason. */
  readonly onExposed?: (error: unknown) => void;
}

const defaultWaiting = 64 * 1024 * 1024;
/** The number of bytes written at a time. */
const batchBytes = 1024 * 1024;
const lineEnd = 0x0a;

const linesIn = (bytes: Buffer): number => bytes.reduce((sum, byte) => (byte === lineEnd ? sum + 1 : sum), 0);

/**
 * Opens a file that lines are appended to, readable by its owner only, even if it existed before. Rejects if that
 * fails.
 */
export async function openRotatingFile(options: RotatingFileOptions): Promise<LineSink> {
  await makeDirectory(dirname(options.path), { mode: 0o700 });
  const file = await openForOwner(options);
  return new RotatingFile(options, file, (await file.stat()).size);
}

/**
 * Opens a file readable by its owner only. The mode in the request applies to new files only, so that of an existing
 * file is changed; devices and pipes are left unchanged.
 */
async function openForOwner({ path, onExposed }: RotatingFileOptions): Promise<FileHandle> {
  const file = await open(path, 'a', 0o600);
  try {
    const found = await file.stat();
    if (found.isFile() && (found.mode & 0o077) !== 0) await file.chmod(0o600);
  } catch (error) {
    onExposed?.(error);
  }
  return file;
}

class RotatingFile implements LineSink {
  readonly #options: RotatingFileOptions;
  #file: FileHandle | undefined;
  #size: number;
  #lines: string[] = [];
  #waiting = 0;
  #writing: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: RotatingFileOptions, file: FileHandle, size: number) {
    this.#options = options;
    this.#file = file;
    this.#size = size;
  }

  write(line: string): boolean {
    // Counted in characters, which is cheap; each has at most three bytes.
    const most = this.#options.maxWaiting ?? defaultWaiting;
    if (this.#closed !== undefined || this.#waiting + line.length > most) return false;
    this.#lines.push(line);
    this.#waiting += line.length;
    this.#writing ??= this.#drain();
    return true;
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#writing;
      await this.#file?.close();
    })();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    while (this.#lines.length > 0) {
      const batch = this.#take();
      let written = 0;
      try {
        const { maxBytes } = this.#options;
        if (maxBytes > 0 && this.#size > 0 && this.#size + batch.length > maxBytes) await this.#rotate();
        this.#file ??= await openForOwner(this.#options);
        while (written < batch.length) written += (await this.#file.write(batch, written)).bytesWritten;
        this.#size += batch.length;
      } catch (error) {
        const complete = batch.subarray(0, written).lastIndexOf(lineEnd) + 1;
        this.#options.onFailure?.(error, linesIn(batch.subarray(complete)));
        // An incomplete line must not become the beginning of the next one.
        await this.#file
          ?.stat()
          .then(({ size }) => this.#file?.truncate(size - (written - complete)))
          .catch(() => {});
        await this.#file?.close().catch(() => {});
        this.#file = undefined;
        this.#size = await stat(this.#options.path).then(
          ({ size }) => size,
          () => 0,
        );
      }
    }
    // Must follow without an await: a line that arrived in between would wait for the next one.
    this.#writing = undefined;
  }

  #take(): Buffer {
    let length = 0;
    let count = 0;
    const { maxBytes } = this.#options;
    const most = maxBytes > 0 ? Math.min(batchBytes, maxBytes) : batchBytes;
    while (count < this.#lines.length) {
      const next = (this.#lines[count] as string).length;
      if (count > 0 && length + next > most) break;
      length += next;
      count++;
    }
    this.#waiting -= length;
    return Buffer.from(this.#lines.splice(0, count).join(''));
  }

  async #rotate(): Promise<void> {
    const { path, maxBackups, maxAgeMs = 0, now = Date.now } = this.#options;
    await this.#file?.close();
    this.#file = undefined;
    if (maxBackups === 0) await rm(path, { force: true });
    else await shift(path, maxBackups);
    if (maxAgeMs > 0) await removeOld(path, now() - maxAgeMs);
    this.#size = 0;
  }
}

/**
 * Renames a file to number 1, the file there to 2, and so on, up to the first free number, so that it takes no longer than
 * the number of files that exist, however many may be kept.
 */
async function shift(path: string, most: number): Promise<void> {
  let last = 0;
  while (last + 1 < most && (await pathExists(numbered(path, last + 1)))) last++;
  for (let number = last; number >= 0; number--) {
    await rename(numbered(path, number), numbered(path, number + 1)).catch(falseIfMissing);
  }
}

/** Removes full files that were last written to before a time (milliseconds since the epoch). */
async function removeOld(path: string, before: number): Promise<void> {
  for (let number = 1; ; number++) {
    const found = await lstat(numbered(path, number)).catch(falseIfMissing);
    if (found === false) return;
    if (found.mtimeMs < before) await rm(numbered(path, number), { force: true });
  }
}

const numbered = (path: string, number: number): string => (number === 0 ? path : `${path}.${number}`);

const pathExists = (path: string): Promise<boolean> =>
  lstat(path)
    .then(() => true)
    .catch(falseIfMissing);

function falseIfMissing(error: NodeJS.ErrnoException): false {
  if (error.code !== 'ENOENT') throw error;
  return false;
}

/** Returns a sink that writes to a stream such as standard output, with a limit on what the stream has not accepted yet. */
export function streamSink(
  stream: { write(text: string): unknown; readonly writableLength?: number },
  maxWaiting = defaultWaiting,
): LineSink {
  let closed = false;
  return {
    write(line) {
      if (closed || (stream.writableLength ?? 0) + line.length > maxWaiting) return false;
      stream.write(line);
      return true;
    },
    async close() {
      closed = true;
    },
  };
}
