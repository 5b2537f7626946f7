import type { Container, ContainerPort, PodSpec } from '../../api/kinds/pod.js';
import { isObject, type JsonObject } from '../../api/object.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  notSupportedTypedString,
  required,
  type Violation,
} from '../../api/violations.js';

/** Helpers that the rules of pods share. */

/** Checks that a word is given and known. */
export const supportedWord = (path: string, word: string, known: readonly string[]): readonly Violation[] =>
  word === '' ? [required(path)] : known.includes(word) ? [] : [notSupportedTypedString(path, word, known)];

/** Checks that a text is given, and that it satisfies the rule if there is one. */
export const requiredText = (
  path: string,
  text: string,
  rule: (text: string) => readonly string[] = () => [],
): readonly Violation[] => (text === '' ? [required(path)] : eachInvalid(path, text, rule(text)));

/** Returns why a file's path is invalid if it must not lead out of its directory. */
export const backstepProblems = (path: string): readonly string[] =>
  path.split('/').includes('..') ? ["must not contain '..'"] : [];

/** Checks that a name is not yet in `names`, and adds it. */
export function duplicateName(path: string, name: string, names: Set<string>): readonly Violation[] {
  if (names.has(name)) return [duplicate(child(path, 'name'), name)];
  names.add(name);
  return [];
}

export const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');
export const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? (value as JsonObject[]) : [];
export const structOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** Values with their field paths. */
export type WithPaths<T> = readonly (readonly [path: string, value: T])[];

export const withPaths = <T>(path: string, list: readonly T[] | null | undefined): WithPaths<T> =>
  (list ?? []).map((value, at) => [index(path, at), value]);

export const portsOf = (containers: WithPaths<Container>): WithPaths<ContainerPort> =>
  containers.flatMap(([path, { ports }]) => withPaths(child(path, 'ports'), ports));

/** Returns all containers with their paths, in the order in which they start. */
export const allContainers = (spec: PodSpec): WithPaths<Container> =>
  (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    withPaths(`spec.${list}`, spec[list]),
  );
