/** Does one thing after another, where some have to wait for something: at once as long as nothing waits. */
export class SerialQueue {
  #last: Promise<void> | undefined;

  /** Does `work`, which does not throw, when all before it is done and what it waits for, which does not reject, has come. */
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
