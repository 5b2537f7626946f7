/** Thrown for a text that is not YAML, or cannot be converted to JSON. The message is Go's. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

export const tooDeep = 'yaml: exceeded max depth of 10000';

/** Returns an error at a line, counted from zero: go-yaml omits the first one, and prints the number unchanged. */
export const parserError = (problem: string, line: number): YamlError =>
  new YamlError(line === 0 ? `yaml: ${problem}` : `yaml: line ${line}: ${problem}`);

/** Like `parserError`, for errors within tokens, for which go-yaml prints lines counted from one. */
export const scannerError = (problem: string, line: number): YamlError =>
  parserError(problem, line === 0 ? 0 : line + 1);
