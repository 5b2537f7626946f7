import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A recorded conversation with an API server: requests in order, each with the answer it got. */
export interface Transcript {
  readonly name: string;
  readonly about: string;
  readonly source: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly id: string;
  /** Default: the administrator. */
  readonly as?: 'admin' | 'anonymous' | { readonly token: string } | Impersonated;
  readonly method: string;
  readonly path: string;
  /** null: not even the default one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string;
  /** Read events until there are so many, or the time is over. */
  readonly watch?: { readonly events?: number; readonly ms?: number };
  /** Asked again until this holds. */
  readonly until?: { readonly status?: number; readonly pointer?: string; readonly equals?: unknown };
  /** Variables for later steps, by where they stand in the answer. */
  readonly capture?: Readonly<Record<string, string>>;
  /** Where the answer may be anything. */
  readonly ignore?: readonly string[];
  /** Texts after which any string of the answer may go on as it likes. */
  readonly cut?: readonly string[];
  readonly response?: Partial<Observed>;
}

interface Impersonated {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, string | readonly string[]>>;
}

/** An answer in the form that is compared. */
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

/** Puts the variables captured so far where they are named. */
export function fill<T>(value: T, variables: ReadonlyMap<string, string>): T {
  const inside = (part: unknown): unknown => {
    if (typeof part === 'string') return part.replace(variable, (whole, name: string) => variables.get(name) ?? whole);
    if (Array.isArray(part)) return part.map(inside);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [inside(name), inside(item)]));
  };
  return inside(value) as T;
}

/** What stands at a pointer such as `/metadata/uid`. */
export const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .filter((name) => name !== '')
    .reduce<unknown>(
      (node, name) => (typeof node === 'object' && node !== null ? (node as Record<string, unknown>)[name] : undefined),
      value,
    );
