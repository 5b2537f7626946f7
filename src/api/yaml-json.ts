import { type ExactJson, NumberLiteral } from './json-exact.js';
import { readJsonInSteps } from './json-text.js';
import { setMember } from './object.js';
import { sortedNames } from './text-order.js';
import { mayHaveJsonEscapes, type Pause } from './yaml-document.js';
import { beginsFlow } from './yaml-flow.js';
import { floatNumber, wholeNumber } from './yaml-values.js';

/** Bodies sent as YAML are JSON more often than not, and reading JSON is much faster. */

/** Characters of a text of which each further step takes long, too. */
export const longText = 65_536;

/** The colon of a name that is in another line, which JSON takes. */
const colonInNextLine = /"[ \t]*\n\s*:/;

/** What a text says that is JSON, as YAML would say it; undefined for one that is not, or that go-yaml reads otherwise. */
export async function readAsJson(text: string, pause: Pause): Promise<ExactJson | undefined> {
  if (!beginsFlow.test(text) || mayHaveJsonEscapes.test(text) || colonInNextLine.test(text)) return undefined;
  const isLong = text.length > longText;
  try {
    const reading = readJsonInSteps(text);
    let step = reading.next();
    for (; !step.done; step = reading.next()) if (isLong) await pause();
    const { exact, duplicates } = step.value;
    if (duplicates.length > 0) return undefined;
    if (isLong) await pause();
    const whole = converted(exact);
    if (isLong) await pause();
    return whole;
  } catch {
    return undefined;
  }
}

/** As after a conversion to YAML and back: members sorted, numbers that are not whole by their value. */
function converted(exact: ExactJson): ExactJson {
  if (typeof exact !== 'object' || exact === null) return exact;
  if (exact instanceof NumberLiteral) {
    const value = Number(exact.text);
    if (/^-?\d+$/.test(exact.text)) return wholeNumber(BigInt(exact.text));
    return Number.isFinite(value) ? floatNumber(value) : exact.text;
  }
  if (Array.isArray(exact)) return (exact as readonly ExactJson[]).map(converted);
  const members = exact as { readonly [member: string]: ExactJson };
  const out: Record<string, ExactJson> = {};
  for (const name of sortedNames(members)) setMember(out, name, converted(members[name] ?? null));
  return out;
}
