import { type ExactJson, NumberLiteral } from './json-exact.js';
import { readJsonInSteps } from './json-text.js';
import { setMember } from './object.js';
import { sortedNames } from './text-order.js';
import { mayHaveJsonEscapes, type Pause } from './yaml-document.js';
import { beginsFlow } from './yaml-flow.js';
import { floatNumber, wholeNumber } from './yaml-values.js';

/** Reads YAML that is JSON: most bodies sent as YAML are, and parsing JSON is much faster. */

/** The length of a text beyond which each further step takes long too. */
export const longText = 65_536;

/** Matches a colon on the line after its name, which JSON allows. */
const colonInNextLine = /"[ \t]*\n\s*:/;

/**
 * Returns the value of a text that is JSON, converted as YAML would be; undefined if it is not JSON, or if go-yaml
 * reads it differently.
 */
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
    const result = converted(exact);
    if (isLong) await pause();
    return result;
  } catch {
    return undefined;
  }
}

/**
 * Converts a value as a conversion to YAML and back does: members sorted, numbers that are not whole by their value.
 */
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
