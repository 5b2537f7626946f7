/** Whether a path is PEM, YAML or JSON that was given by mistake and may hold a key. */
const isText = (path: string): boolean => /[\r\n]|^\s*[{[]/.test(path);

/**
 * Returns a path as error messages show it; `pathErrorCause` returns the error of Node.js as their cause. Neither
 * repeats PEM, YAML or JSON that was given where a path was expected.
 */
export const displayPath = (path: string): string => (isText(path) ? '(a literal text, not a path)' : path);
export const pathErrorCause = (path: string, cause: unknown): ErrorOptions => (isText(path) ? {} : { cause });
