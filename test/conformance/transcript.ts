import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A recorded conversation with an API server: requests in order, each with its response. */
export interface Transcript {
  readonly name: string;
  readonly about: string;
  readonly source: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly id: string;
  /** The caller. Default: the administrator. */
  readonly as?: 'admin' | 'anonymous' | { readonly token: string } | Impersonated;
  readonly method: string;
  readonly path: string;
  /** null removes a default header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string;
  /** Read events until there are this many, or the time is over. */
  readonly watch?: { readonly events?: number; readonly ms?: number };
  /** Repeat the request until this holds. */
  readonly until?: { readonly status?: number; readonly pointer?: string; readonly equals?: unknown };
  /** Variables for later steps, by their pointers in the response. */
  readonly capture?: Readonly<Record<string, string>>;
  /** Pointers to parts of the response that are not compared. */
  readonly ignore?: readonly string[];
  /** Texts after which the rest of any string in the response is not compared. */
  readonly cut?: readonly string[];
  readonly response?: Partial<Observed>;
}

interface Impersonated {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, string | readonly string[]>>;
}

/** A response in the form in which it is compared. */
export interface Observed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function readTranscripts(directory: string): readonly Transcript[] {
  return readdirSync(directory)
    .sort()
    .map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as Transcript);
}

const variable = /\{\{(\w+)\}\}/g;

/** Replaces variables by the values captured so far. */
export function fill<T>(value: T, variables: ReadonlyMap<string, string>): T {
  const inside = (part: unknown): unknown => {
    if (typeof part === 'string') return part.replace(variable, (whole, name: string) => variables.get(name) ?? whole);
    if (Array.isArray(part)) return part.map(inside);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [inside(name), inside(item)]));
  };
  return inside(value) as T;
}

/** Returns the value at a pointer such as `/metadata/uid`. */
export const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .filter((name) => name !== '')
    .reduce<unknown>(
      (node, name) => (typeof node === 'object' && node !== null ? (node as Record<string, unknown>)[name] : undefined),
      value,
    );
