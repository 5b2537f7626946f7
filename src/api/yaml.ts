import { setImmediate as nextRound } from 'node:timers/promises';
import { type ExactJson, type ParsedJson, plainJson } from './json-exact.js';
import type { Json } from './object.js';
import { YamlError } from './yaml-error.js';
import { longText, type Pause, readAsJson } from './yaml-json.js';
import { YamlParser } from './yaml-parser.js';
import { decodeYamlText } from './yaml-text.js';
import { TreeReader } from './yaml-tree.js';

export { YamlError } from './yaml-error.js';

/**
 * The result of reading YAML as Kubernetes does: by go-yaml v2 (YAML 1.1 with exceptions), then converted to JSON. Only
 * the first document is read; the conversion sorts members.
 */
export interface ReadYaml extends ParsedJson {
  readonly format: 'yaml';
  /**
   * One text with all repeated members, as strict decoding prints it: `yaml: unmarshal errors:\n  line 7: key "a"
   * already set in map`. Empty if there are none.
   */
  readonly duplicates: readonly string[];
  /** Returns the line of the first content after the document, if any; blanks, comments and `...` are no content. */
  lineBehind(): number | undefined;
}

const strictHead = 'yaml: unmarshal errors:\n  ';

/** Returns texts of strict errors as warnings: one for each repeated member of YAML, the others unchanged. */
export const strictWarnings = (errors: readonly string[]): readonly string[] =>
  errors.flatMap((error) => (error.startsWith(strictHead) ? error.slice(strictHead.length).split('\n  ') : [error]));

/** The maximum size of texts that are not JSON; such texts are also limited in their number of tokens. */
export const maxYamlBytes = 1_048_576;
/** The number of steps of the parser between pauses. */
const stepsAtOnce = 2_000;

/** Reads the first document. Throws YamlError. */
export async function readYaml(source: string | Uint8Array, pause: Pause = nextRound): Promise<ReadYaml> {
  const text = decodeYamlText(source);
  const asJson = await readAsJson(text, pause);
  if (asJson !== undefined) return asReadYaml(asJson, [], () => undefined);
  if (text.length > maxYamlBytes) throw new YamlError(`yaml: document is larger than ${maxYamlBytes} bytes`);
  const parser = new YamlParser(text);
  for (let steps = 1; !parser.isDone; steps++) {
    parser.step();
    if (steps % stepsAtOnce === 0) await pause();
  }
  const isLong = text.length > longText;
  if (isLong) await pause();
  const reader = new TreeReader();
  const exact = reader.read(parser.root);
  if (isLong) await pause();
  return asReadYaml(exact, reader.repeated, () => contentBehind(text, parser.end));
}

/** Returns the value of the only document, in which no member may be repeated. Throws YamlError. */
export async function readStrictYaml(source: string | Uint8Array): Promise<Json> {
  const { value, duplicates, lineBehind } = await readYaml(source);
  if (duplicates.length > 0) throw new YamlError(strictWarnings(duplicates).join(', '));
  const behind = lineBehind();
  if (behind !== undefined) throw new YamlError(`must be one document: line ${behind} has more behind its end`);
  return value;
}

/** Matches lines without content, which need not be read. */
const blankLine = /^(?:(?:---|\.\.\.)(?=\s|$))?\s*(?:#.*)?$/;

/** Returns the line of the first content from an offset on. */
function contentBehind(text: string, end: number): number | undefined {
  const line = text
    .slice(end)
    .split('\n')
    .findIndex((one) => !blankLine.test(one));
  return line < 0 ? undefined : text.slice(0, end).split('\n').length + line;
}

const asReadYaml = (exact: ExactJson, repeated: readonly string[], lineBehind: ReadYaml['lineBehind']): ReadYaml => ({
  format: 'yaml',
  value: plainJson(exact),
  exact,
  duplicates: repeated.length === 0 ? [] : [strictHead + repeated.join('\n  ')],
  lineBehind,
});
