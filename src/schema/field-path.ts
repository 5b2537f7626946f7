import { member } from '../api/object.js';
import { child, mapKey } from '../api/violations.js';
import type { SchemaProps } from './json-schema-props.js';
import type { Schema } from './schema.js';

/** A simple JSON path into a schema, as in `selectableFields` and in `fieldPath` of rules: `.spec['a.b'].c`. */
export interface FieldPath<S> {
  /** The path as errors print it. */
  readonly text: string;
  readonly steps: readonly string[];
  /** The schema at the path; undefined if any value is allowed there. */
  readonly schema: S | undefined;
}

const nowhere = 'does not refer to a valid field';

/**
 * The maximum length of a path in characters. Schemas are not nested so deeply that they need longer ones, unless their
 * names are very long.
 */
const longestPath = 65_536;

/** Follows a path into a schema; returns an error text if that fails. */
export function followPath<S extends SchemaProps | Schema>(
  path: string,
  schema: S,
  { brackets }: { readonly brackets: boolean },
): FieldPath<S> | string {
  if (path.length > longestPath) return 'is too long';
  const tokens = tokenize(path);
  let at = 0;
  let current: SchemaProps | Schema | undefined = schema;
  let text = '';
  const steps: string[] = [];
  /** Descends to a member; returns an error text if that fails. */
  const step = (name: string): string | undefined => {
    const named = (current?.properties?.size ?? 0) > 0;
    text = named ? child(text, name) : mapKey(text, name);
    steps.push(name);
    if (current === undefined) return nowhere;
    const exists = named ? current.properties?.has(name) : current.additionalProperties !== undefined;
    current = named ? current.properties?.get(name) : valuesOf(current);
    return exists ? undefined : nowhere;
  };
  while (at < tokens.length) {
    const token = tokens[at++] ?? '';
    if (token !== '[' && token !== '.') return `expected [ or . but got: ${token}`;
    if (token === '[' && !brackets) return 'array notation is not allowed';
    let name = tokens[at++];
    if (name === undefined) return 'unexpected end of JSON path';
    if (token === '[') {
      const quoted = /^'([\s\S]*)'$/.exec(name);
      if (quoted === null) return `expected single quoted string but got ${name}`;
      const unescaped = unquoted(quoted[1] ?? '');
      if (unescaped === undefined) return 'invalid string literal: invalid syntax';
      name = unescaped;
    }
    const wrong = step(name);
    if (wrong !== undefined) return wrong;
    if (token === '[') {
      const close = tokens[at++];
      if (close === undefined) return 'unexpected end of JSON path';
      if (close !== ']') return `expected ] but got ${close}`;
    }
  }
  // All parts of a schema have the same type as the schema.
  return { text, steps, schema: current as S | undefined };
}

/** Returns the schema of unnamed members; undefined if they may be anything. */
function valuesOf({ additionalProperties }: SchemaProps | Schema): SchemaProps | Schema | undefined {
  if (typeof additionalProperties !== 'object') return undefined;
  return 'allows' in additionalProperties ? additionalProperties.schema : additionalProperties;
}

/** Splits a path into `.`, `[`, `]`, texts between them, and texts in single quotes. */
function tokenize(path: string): readonly string[] {
  const tokens: string[] = [];
  let at = 0;
  while (at < path.length) {
    const start = at;
    if (path[at] === "'") {
      at++;
      while (at < path.length && !(path[at] === "'" && path[at - 1] !== '\\')) at++;
      at = Math.min(at + 1, path.length);
    } else if (/[.[\]]/.test(path[at] ?? '')) at++;
    else while (at < path.length && !/[.[\]]/.test(path[at] ?? '')) at++;
    tokens.push(path.slice(start, at));
  }
  return tokens;
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
};

/** Returns the content of a Go string literal; undefined for an invalid escape. */
function unquoted(text: string): string | undefined {
  let wrong = false;
  const out = text.replace(/\\([\s\S]?)/g, (_, character: string) => {
    const plain = member(escapes, character);
    if (plain === undefined) wrong = true;
    return plain ?? '';
  });
  return wrong ? undefined : out;
}
