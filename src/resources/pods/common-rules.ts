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

/** What the rules of pods have in common. */

/** One of the words that are known. */
export const supportedWord = (path: string, word: string, known: readonly string[]): readonly Violation[] =>
  word === '' ? [required(path)] : known.includes(word) ? [] : [notSupportedTypedString(path, word, known)];

/** Something that must be there, and keep a rule if there is one. */
export const requiredText = (
  path: string,
  text: string,
  rule: (text: string) => readonly string[] = () => [],
): readonly Violation[] => (text === '' ? [required(path)] : eachInvalid(path, text, rule(text)));

/** What is wrong with the path of a file that must not lead out of where it is. */
export const backstepProblems = (path: string): readonly string[] =>
  path.split('/').includes('..') ? ["must not contain '..'"] : [];

/** Of things that each have a name of their own. */
export function duplicateName(path: string, name: string, names: Set<string>): readonly Violation[] {
  if (names.has(name)) return [duplicate(child(path, 'name'), name)];
  names.add(name);
  return [];
}

export const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');
export const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? (value as JsonObject[]) : [];
export const structOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);

/** Things and where they stand. */
export type WithPaths<T> = readonly (readonly [path: string, value: T])[];

export const withPaths = <T>(path: string, list: readonly T[] | null | undefined): WithPaths<T> =>
  (list ?? []).map((value, at) => [index(path, at), value]);

export const portsOf = (containers: WithPaths<Container>): WithPaths<ContainerPort> =>
  containers.flatMap(([path, { ports }]) => withPaths(child(path, 'ports'), ports));

/** All containers, in the order in which they start. */
export const allContainers = (spec: PodSpec): WithPaths<Container> =>
  (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    withPaths(`spec.${list}`, spec[list]),
  );
