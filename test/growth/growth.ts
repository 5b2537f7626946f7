import { randomFrom } from '../fuzz/random.js';
import type { Reader } from './readers.js';

/** Looks for texts whose parsing takes more than linear time, or ends in an internal error of the program. */

/** Returns a text of about this many characters. */
interface Form {
  readonly name: string;
  make(length: number): string;
}

const numbered = (text: string, at: number): string => text.replaceAll('§', String(at));
function repeated(text: string, length: number): string {
  const count = Math.max(1, Math.floor(length / (text.length + (text.includes('§') ? 3 : 0))));
  return text.includes('§')
    ? Array.from({ length: count }, (_, at) => numbered(text, at)).join('')
    : text.repeat(count);
}

function* formsOf({ tokens }: Reader, seed: number): Generator<Form> {
  const random = randomFrom(seed);
  const some = (most: number, least = 0): string =>
    Array.from({ length: least + random.below(most + 1 - least) }, () => random.pick(tokens)).join('');
  const form = (head: string, inner: string, middle: string, closing: string, tail: string): Form => ({
    name: JSON.stringify({ head, inner, middle, closing, tail }),
    make: (length) => {
      const half = closing === '' ? length : length / 2;
      return [
        numbered(head, 0),
        repeated(inner, half),
        numbered(middle, 1),
        closing === '' ? '' : repeated(closing, half),
        numbered(tail, 2),
      ].join('');
    },
  });
  for (const token of tokens) yield form('', token, '', '', '');
  for (;;) {
    yield form('', some(4, 2), '', '', '');
    yield form(some(3), some(2, 1), '', '', some(3));
    yield form('', some(2, 1), some(1), some(2, 1), some(1));
  }
}

/** Reads a text. Returns the processor time in milliseconds, and the fault if there is one. */
async function reading(reader: Reader, text: string): Promise<{ readonly ms: number; readonly fault?: unknown }> {
  const before = process.cpuUsage();
  let fault: unknown;
  try {
    let found = reader.read(text);
    if (typeof found === 'object' && found !== null && 'next' in found) {
      const steps = found as Generator<void, unknown, void>;
      while (!steps.next().done);
      found = undefined;
    }
    await found;
  } catch (error) {
    const isOurs = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
    if (isOurs && !(reader.mayThrow !== undefined && error instanceof reader.mayThrow)) fault = error;
  }
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1_000, fault };
}

const times = 8;
const shortest = 30;
const noise = 0.3;

/** Returns what is wrong with this many forms of texts. */
export async function growthOf(reader: Reader, { forms, seed }: { readonly forms: number; readonly seed: number }) {
  const found: string[] = [];
  const long = reader.most ?? 32_000;
  let left = forms;
  for (const { name, make } of formsOf(reader, seed)) {
    if (left-- === 0) break;
    const [few, many] = [make(long / times), make(long)];
    const short = await reading(reader, few);
    const whole = await reading(reader, many);
    const fault = short.fault ?? whole.fault;
    if (fault !== undefined) found.push(`${name}: ${String(fault)}`);
    const expected = (many.length / few.length) * 2.5;
    if (whole.ms < shortest || whole.ms < expected * (short.ms + noise)) continue;
    // Other processes use the machine, and new code is compiled first, so the minimum of several attempts counts.
    const ms = { short: short.ms, whole: whole.ms };
    for (let again = 0; again < 3; again++) {
      ms.short = Math.min(ms.short, (await reading(reader, few)).ms);
      ms.whole = Math.min(ms.whole, (await reading(reader, many)).ms);
    }
    if (ms.whole < shortest || ms.whole < expected * (ms.short + noise)) continue;
    found.push(`${name}: ${few.length} characters take ${ms.short} ms, ${many.length} take ${ms.whole}`);
  }
  return found;
}

/** Reads texts of up to three tokens, to find those whose parsing never ends. */
export async function smallFaultsOf(
  reader: Reader,
  { texts, seed }: { readonly texts: number; readonly seed: number },
) {
  const found: string[] = [];
  const random = randomFrom(seed);
  const pieces = reader.tokens.map((token) => numbered(token, 1));
  const look = async (text: string): Promise<void> => {
    const { ms, fault } = await reading(reader, text);
    if (fault !== undefined) found.push(`${JSON.stringify(text)}: ${String(fault)}`);
    else if (ms > 1_000) found.push(`${JSON.stringify(text)} takes ${ms} ms`);
  };
  for (const one of pieces) for (const two of pieces) await look(one + two);
  for (let count = 0; count < texts; count++)
    await look(Array.from({ length: 3 + random.below(4) }, () => random.pick(pieces)).join(''));
  return found;
}
