/** Runs tasks in order, some of which wait for a promise. Runs them synchronously as long as none waits. */
export class SerialQueue {
  #last: Promise<void> | undefined;

  /** Runs `work`, which must not throw, after all earlier tasks and after `waited`, which must not reject. */
  run(waited: Promise<void> | undefined, work: () => void): void {
    if (this.#last === undefined && waited === undefined) {
      work();
      return;
    }
    const last = Promise.all([this.#last, waited]).then(() => {
      work();
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
  }
}
