import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../http/body.js';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Too much is held already. The caller may come again. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
}

export interface IntakeLimits {
  /** Most bytes of bodies at a time. */
  readonly heldBytes?: number;
}

const defaultHeldBytes = 134_217_728;
/** The first bytes of each body are not counted: its connection costs as much. So no small review is ever refused. */
const uncountedBytes = 65_536;
/** Bodies of more bytes are answered one at a time, since what is in them takes many times as much memory as they do. */
const largeBytes = 1_048_576;
/** Bytes of other bodies that are answered at a time. */
const answeredBytes = 8_388_608;

/** A body on its way or being answered. */
interface Held {
  counted: number;
  giveUp(): void;
}

/**
 * Limits what callers can occupy of a process with their reviews: memory above all. Whoever they are, what they send must
 * neither end the process nor keep others out for long.
 */
export class ReviewIntake {
  readonly #mostHeld: number;
  #held = 0;
  /** Bodies that have not come in full, the oldest first. */
  readonly #coming = new Set<Held>();
  readonly #large = new Room(1);
  readonly #others = new Room(answeredBytes);

  constructor({ heldBytes = defaultHeldBytes }: IntakeLimits = {}) {
    this.#mostHeld = heldBytes;
  }

  /**
   * The body, which is held until the response is closed. Once too much is, the body that has been on its way for the
   * longest is given up: whoever sends theirs without delay is not kept out by those who never come to an end.
   * @throws Overloaded, what `readBody` throws
   */
  async body({ request, response }: Exchange, maxBytes: number): Promise<Buffer> {
    let size = 0;
    let isGivenUp = false;
    const held: Held = { counted: 0, giveUp: () => {} };
    const release = (): void => {
      this.#coming.delete(held);
      this.#held -= held.counted;
      held.counted = 0;
    };
    const count = (chunk: Buffer): void => {
      size += chunk.length;
      const counted = Math.max(0, size - uncountedBytes);
      this.#held += counted - held.counted;
      held.counted = counted;
      if (this.#held > this.#mostHeld) this.#giveUpOldest();
    };
    const stopCounting = (): void => void request.off('data', count);
    response.once('close', release);
    this.#coming.add(held);
    try {
      return await readBody(request, request.headers['content-length'], maxBytes, (giveUp) => {
        held.giveUp = () => {
          isGivenUp = true;
          stopCounting();
          release();
          giveUp();
        };
        request.on('data', count);
      });
    } catch (error) {
      throw isGivenUp ? new Overloaded('too many reviews at a time') : error;
    } finally {
      stopCounting();
      this.#coming.delete(held);
    }
  }

  /** Does the work for a body once there is room for it, or rejects with the signal's reason if that aborts before. */
  answering<R>(bytes: number, signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    return bytes > largeBytes ? this.#large.within(1, signal, work) : this.#others.within(bytes, signal, work);
  }

  /** Those that have been on their way for the longest, until no more is held than may be; at last the one that came now. */
  #giveUpOldest(): void {
    for (const held of this.#coming) {
      if (held.counted === 0) continue;
      held.giveUp();
      if (this.#held <= this.#mostHeld) return;
    }
  }
}

/** Has so much room, which is taken and left; who finds too little waits, first come first served. */
class Room {
  #free: number;
  readonly #waiting = new Set<{ readonly space: number; enter(): void }>();

  constructor(space: number) {
    this.#free = space;
  }

  /** The room is left when the work is done, or nobody waits for it any more. */
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
