import { type ExactJson, NumberLiteral } from './json-exact.js';
import { readJsonInSteps } from './json-text.js';
import { setMember } from './object.js';
import { sortedNames } from './text-order.js';
import { YamlError } from './yaml-error.js';
import { floatNumber, wholeNumber } from './yaml-values.js';

/** Reads YAML that is JSON: most bodies sent as YAML are, and parsing JSON is much faster. */

/** Yields to other work while a long text is read. */
export type Pause = () => Promise<void>;

/** The length of a text beyond which each further step takes long too. */
export const longText = 65_536;

/** Match the beginning and the end of a text that is a list or map, without tabs around it. */
const beginsFlow = /^[ \n]*[{[]/;
const endsFlow = /[}\]][ \n]*$/;

/**
 * Matches what go-yaml reads differently than JSON or not at all: an escaped slash or surrogate, a line break of YAML
 * 1.1, and a colon on the line after its name.
 */
const differs = /\\(?:\/|u[dD][89a-fA-F])|[\u2028\u2029]|"[ \t]*\n\s*:/;

/** The length of names whose colon go-yaml may not find, which depends on how they are written. */
const longName = (text: string): number => (text.includes('\\') ? 170 : 1_000);

/**
 * Returns the value of a text that is JSON, converted as YAML would be; undefined if it is not JSON, or if go-yaml
 * reads it differently.
 */
export async function readAsJson(text: string, pause: Pause): Promise<ExactJson | undefined> {
  if (!beginsFlow.test(text) || !endsFlow.test(text) || differs.test(text)) return undefined;
  const isLong = text.length > longText;
  try {
    const reading = readJsonInSteps(text);
    let step = reading.next();
    for (; !step.done; step = reading.next()) if (isLong) await pause();
    const { exact, duplicates } = step.value;
    if (duplicates.length > 0) return undefined;
    if (isLong) await pause();
    const result = converted(exact, longName(text));
    if (isLong) await pause();
    return result;
  } catch {
    return undefined;
  }
}

/**
 * Converts a value as a conversion to YAML and back does: members sorted, numbers that are not whole by their value.
 * Throws YamlError for a name that is too long.
 */
function converted(exact: ExactJson, longestName: number): ExactJson {
  if (typeof exact !== 'object' || exact === null) return exact;
  if (exact instanceof NumberLiteral) {
    const value = Number(exact.text);
    if (/^-?\d+$/.test(exact.text)) return wholeNumber(BigInt(exact.text));
    return Number.isFinite(value) ? floatNumber(value) : exact.text;
  }
  if (Array.isArray(exact)) return (exact as readonly ExactJson[]).map((item) => converted(item, longestName));
  const members = exact as { readonly [member: string]: ExactJson };
  const out: Record<string, ExactJson> = {};
  for (const name of sortedNames(members)) {
    if (name.length > longestName) throw new YamlError('a long name');
    setMember(out, name, converted(members[name] ?? null, longestName));
  }
  return out;
}
