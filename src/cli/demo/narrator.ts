/** Prints a story in numbered steps, each with its results below it. */
export interface Narrator {
  step(title: string): void;
  /** Prints a result in one line; `name` is padded so that values are aligned. */
  fact(name: string, value: string): void;
  say(text: string): void;
}

const nameWidth = 13;

export function createNarrator(write: (text: string) => unknown): Narrator {
  let steps = 0;
  return {
    step(title) {
      steps += 1;
      write(`\n${steps}. ${title}\n`);
    },
    fact: (name, value) => void write(`   ${name.padEnd(nameWidth)} ${value}\n`),
    say: (text) => void write(`${text}\n`),
  };
}
