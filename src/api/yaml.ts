import { setImmediate as nextRound } from 'node:timers/promises';
import { type ExactJson, type ParsedJson, plainJson } from './json-exact.js';
import type { Json } from './object.js';
import {
  complaint,
  complaintAt,
  noContent,
  noEndOfQuotes,
  noToken,
  scannerComplaint,
  YamlError,
} from './yaml-complaints.js';
import { countLineBreaks, firstDocument, fixScalarText, type Pause } from './yaml-document.js';
import { longText, readAsJson } from './yaml-json.js';
import { ignoreTrailing, repairIndent } from './yaml-leniency.js';
import { decodeYamlText } from './yaml-text.js';
import { TreeReader } from './yaml-tree.js';

export { YamlError } from './yaml-complaints.js';

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
/** The maximum number of characters that are parsed again to correct indentation. */
const maxReread = 65_536;

/** Reads the first document. Throws YamlError. */
export async function readYaml(source: string | Uint8Array, pause: Pause = nextRound): Promise<ReadYaml> {
  return readText(decodeYamlText(source), pause, { rereading: maxReread, mayEnd: true });
}

/** Returns the value of the only document, in which no member may be repeated. Throws YamlError. */
export async function readStrictYaml(source: string | Uint8Array): Promise<Json> {
  const { value, duplicates, lineBehind } = await readYaml(source);
  if (duplicates.length > 0) throw new YamlError(strictWarnings(duplicates).join(', '));
  const behind = lineBehind();
  if (behind !== undefined) throw new YamlError(`must be one document: line ${behind} has more behind its end`);
  return value;
}

/** Limits on rereading a text that the parser does not understand. */
interface Leniency {
  /** The number of characters that may be parsed again to correct indentation. */
  readonly rereading: number;
  /** Whether content after the end may be dropped, which is done at most once. */
  readonly mayEnd: boolean;
}

async function readText(text: string, pause: Pause, { rereading, mayEnd }: Leniency): Promise<ReadYaml> {
  const asJson = await readAsJson(text, pause);
  if (asJson !== undefined) return asReadYaml(asJson, [], () => undefined);
  if (text.length > maxYamlBytes) throw new YamlError(`yaml: document is larger than ${maxYamlBytes} bytes`);
  const directive = versionDirective.exec(text);
  if (directive !== null && directive[2] !== '1.1')
    throw new YamlError(complaintAt('found incompatible YAML document', countLineBreaks(directive[1] ?? '')));
  const end = endOfNothing.exec(text);
  if (end !== null) throw new YamlError(complaintAt(noContent, countLineBreaks(end[1] ?? '')));
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const { document, endsInQuotes } = await firstDocument(yaml, text, lines, pause);
  const [wrong, ...more] = document?.errors ?? [];
  if (wrong !== undefined) {
    // Rereading happens in a turn of its own.
    await pause();
    const before = mayEnd ? ignoreTrailing(text, wrong) : undefined;
    const complete = before && (await readText(before, pause, { rereading, mayEnd: false }).catch(unreadable));
    if (before && complete)
      return { ...complete, lineBehind: () => complete.lineBehind() ?? contentBehind(text, before.length) };
    const indented = rereading >= text.length ? repairIndent(text, wrong) : undefined;
    if (indented !== undefined) return readText(indented, pause, { rereading: rereading - text.length, mayEnd });
    throw new YamlError(complaint(wrong, more, text, lineAt));
  }
  if (endsInQuotes) throw new YamlError(scannerComplaint(noEndOfQuotes, lineAt(text.length)));
  const unknownDirective = document?.warnings.find(({ code }) => code === 'BAD_DIRECTIVE');
  if (unknownDirective !== undefined)
    throw new YamlError(scannerComplaint('found unknown directive name', lineAt(unknownDirective.pos[0])));
  const tab = document?.contents ? -1 : text.search(/^ *\t/m);
  if (tab >= 0) throw new YamlError(scannerComplaint(noToken, lineAt(tab)));
  const isLong = text.length > longText;
  if (isLong) await pause();
  if (document !== undefined) fixScalarText(yaml, document, text);
  const reader = new TreeReader({ text, lineAt, isMap: yaml.isMap, isAlias: yaml.isAlias, isPair: yaml.isPair });
  const exact = reader.read(document?.contents);
  if (isLong) await pause();
  const read = document?.range?.[2] ?? text.length;
  return asReadYaml(exact, reader.repeated, () => contentBehind(text, read));
}

/** Ignores errors of a part, for which the error of the whole text is reported. */
function unreadable(error: unknown): undefined {
  if (!(error instanceof YamlError)) throw error;
}

/** Matches lines without content, which need not be read. */
const blankLine = /^(?:(?:---|\.\.\.)(?=\s|$))?\s*(?:#.*)?$/;

/** Returns the line of the first content from an offset on. */
function contentBehind(text: string, end: number): number | undefined {
  const line = text
    .slice(end)
    .split('\n')
    .findIndex((one) => !blankLine.test(one));
  return line < 0 ? undefined : countLineBreaks(text.slice(0, end)) + line + 1;
}

const asReadYaml = (exact: ExactJson, repeated: readonly string[], lineBehind: ReadYaml['lineBehind']): ReadYaml => ({
  format: 'yaml',
  value: plainJson(exact),
  exact,
  duplicates: repeated.length === 0 ? [] : [strictHead + repeated.join('\n  ')],
  lineBehind,
});

/** Matches a version directive; go-yaml knows only version 1.1. */
const versionDirective = /^((?:[ \t]*(?:#.*)?\n)*)%YAML[ \t]+(\d+\.\d+)/;

/** Matches a document end before any content. */
const endOfNothing = /^((?:[ \t]*(?:#.*)?\n)*)\.\.\.(?:\s|$)/;
