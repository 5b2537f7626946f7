/** PEM, YAML or JSON: texts that are taken for paths by mistake, and may hold a key. */
const isText = (path: string): boolean => /[\r\n]|^\s*[{[]/.test(path);

/**
 * A path as messages name it, and what Node.js says of it as their cause. A text that was given in the place of a path is
 * repeated by neither.
 */
export const displayPath = (path: string): string => (isText(path) ? '(a text in the place of a path)' : path);
export const pathErrorCause = (path: string, cause: unknown): ErrorOptions => (isText(path) ? {} : { cause });
