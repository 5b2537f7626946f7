import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../http/body.js';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Thrown when too many bytes are held already. The caller may retry. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

export interface IntakeLimits {
  /** The most bytes of bodies held at a time. */
  readonly heldBytes?: number;
}

const defaultHeldBytes = 134_217_728;
/**
 * The first bytes of each body, which are not counted because its connection costs as much. Small reviews are therefore
 * never refused.
 */
const uncountedBytes = 65_536;
/** The size beyond which bodies are processed one at a time, because their contents take many times as much memory. */
const largeBytes = 1_048_576;
/** The most bytes of other bodies that are processed at a time. */
const answeredBytes = 8_388_608;

/** A body that is being received or processed. */
interface PendingBody {
  counted: number;
  giveUp(): void;
}

/**
 * Limits the resources, above all memory, that callers can occupy with their reviews: no caller may crash the process
 * or keep others out for long.
 */
export class ReviewIntake {
  readonly #mostHeld: number;
  #heldBytes = 0;
  /** Bodies that are not complete yet, the oldest first. */
  readonly #coming = new Set<PendingBody>();
  readonly #large = new Semaphore(1);
  readonly #others = new Semaphore(answeredBytes);

  constructor({ heldBytes = defaultHeldBytes }: IntakeLimits = {}) {
    this.#mostHeld = heldBytes;
  }

  /**
   * Reads the body, which counts as held until the response is closed. When too much is held, the body that has been
   * arriving for the longest is given up, so that slow or stalled callers do not block others.
   * @throws Overloaded, what `readBody` throws
   */
  async body({ request, response }: Exchange, maxBytes: number): Promise<Buffer> {
    let size = 0;
    let isGivenUp = false;
    const pending: PendingBody = { counted: 0, giveUp: () => {} };
    const release = (): void => {
      this.#coming.delete(pending);
      this.#heldBytes -= pending.counted;
      pending.counted = 0;
    };
    const count = (chunk: Buffer): void => {
      size += chunk.length;
      const counted = Math.max(0, size - uncountedBytes);
      this.#heldBytes += counted - pending.counted;
      pending.counted = counted;
      if (this.#heldBytes > this.#mostHeld) this.#giveUpOldest();
    };
    const stopCounting = (): void => void request.off('data', count);
    response.once('close', release);
    this.#coming.add(pending);
    try {
      return await readBody(request, request.headers['content-length'], maxBytes, (giveUp) => {
        pending.giveUp = () => {
          isGivenUp = true;
          stopCounting();
          release();
          giveUp();
        };
        request.on('data', count);
      });
    } catch (error) {
      throw isGivenUp ? new Overloaded('too many concurrent reviews') : error;
    } finally {
      stopCounting();
      this.#coming.delete(pending);
    }
  }

  /** Processes a body once there is capacity for it; rejects with the signal's reason if that aborts before. */
  answering<R>(bytes: number, signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    return bytes > largeBytes ? this.#large.within(1, signal, work) : this.#others.within(bytes, signal, work);
  }

  /** Gives up incomplete bodies, the oldest first and the newest last, until no more is held than allowed. */
  #giveUpOldest(): void {
    for (const pending of this.#coming) {
      if (pending.counted === 0) continue;
      pending.giveUp();
      if (this.#heldBytes <= this.#mostHeld) return;
    }
  }
}

/** A weighted semaphore; work that waits is admitted in order of arrival. */
class Semaphore {
  #free: number;
  readonly #waiting = new Set<{ readonly space: number; enter(): void }>();

  constructor(space: number) {
    this.#free = space;
  }

  /** Runs the work once this much capacity is free; releases it when the work is done or the signal aborts. */
  async within<R>(space: number, signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    await this.#enter(space, signal);
    let isLeft = false;
    const leave = (): void => {
      if (isLeft) return;
      isLeft = true;
      this.#free += space;
      this.#letIn();
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  #enter(space: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
        this.#letIn();
      };
      const waiting = {
        space,
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
      this.#letIn();
    });
  }

  #letIn(): void {
    for (const waiting of this.#waiting) {
      if (waiting.space > this.#free) return;
      this.#waiting.delete(waiting);
      this.#free -= waiting.space;
      waiting.enter();
    }
  }
}
