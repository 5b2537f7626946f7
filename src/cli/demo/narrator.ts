/** Tells a story in numbered steps, with what came of each below it. */
export interface Narrator {
  step(title: string): void;
  /** One line of what happened; `name` is padded so that values stand below each other. */
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
