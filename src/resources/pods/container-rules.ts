import type { Container } from '../../api/kinds/pod.js';
import { configKey, dnsLabel } from '../../api/names.js';
import { isObject, type Json, type JsonObject } from '../../api/object.js';
import { compareQuantities, parseQuantity, signOf } from '../../api/quantity.js';
import {
  child,
  eachInvalid,
  index,
  invalid,
  mapKey,
  notFoundValue,
  ofEach,
  required,
  type Violation,
} from '../../api/violations.js';
import { portViolations } from './port-rules.js';
import { membersOf, oneOf, wordOf } from './rule-words.js';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];

/** Of any container, whenever it runs; `volumes` are those that it can mount. */
export function containerViolations(
  path: string,
  given: Container,
  volumes: ReadonlySet<string>,
): readonly Violation[] {
  const { name = '', image = '', imagePullPolicy = '', resources = {} } = given;
  const namePath = child(path, 'name');
  return [
    ...(name === '' ? [required(namePath)] : eachInvalid(namePath, name, dnsLabel(name))),
    ...(image === '' ? [required(child(path, 'image'))] : []),
    ...oneOf(child(path, 'terminationMessagePolicy'), wordOf(given['terminationMessagePolicy']), messagePolicies),
    ...portViolations(child(path, 'ports'), given.ports ?? []),
    ...ofEach(membersOf(given['env']), (variable, at) => variableViolations(index(child(path, 'env'), at), variable)),
    ...mountViolations(child(path, 'volumeMounts'), membersOf(given['volumeMounts']), volumes),
    ...oneOf(child(path, 'imagePullPolicy'), imagePullPolicy, pullPolicies),
    ...resourceViolations(child(path, 'resources'), resources),
  ];
}

const variableText = "a valid environment variable name must consist only of printable ASCII characters other than '='";
const variableSources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

function variableViolations(path: string, variable: JsonObject): readonly Violation[] {
  const name = wordOf(variable['name']);
  const namePath = child(path, 'name');
  const isPrintable = /^[\x20-\x3c\x3e-\x7e]*$/.test(name);
  return [
    ...(name === '' ? [required(namePath)] : eachInvalid(namePath, name, isPrintable ? [] : [variableText])),
    ...(isObject(variable['valueFrom'] ?? null)
      ? valueSourceViolations(child(path, 'valueFrom'), variable['valueFrom'] as JsonObject, wordOf(variable['value']))
      : []),
  ];
}

function valueSourceViolations(path: string, from: JsonObject, value: string): readonly Violation[] {
  const given = variableSources.filter((source) => isObject(from[source] ?? null));
  const keyed = ['configMapKeyRef', 'secretKeyRef'].filter((source) => given.includes(source));
  const wrong = ofEach(keyed, (source) => {
    const key = wordOf((from[source] as JsonObject)['key']);
    const keyPath = child(path, source, 'key');
    return key === '' ? [required(keyPath)] : eachInvalid(keyPath, key, configKey(key));
  });
  const [first, ...more] = variableSources.map((source) => `\`${source}\``);
  const complain = (why: string): readonly Violation[] => [...wrong, invalid(path, '', why)];
  if (given.length === 0)
    return complain(`must specify one of: ${[first, ...more.slice(0, -1)].join(', ')} or ${more.at(-1)}`);
  if (value !== '') return complain('may not be specified when `value` is not empty');
  return given.length > 1 ? complain('may not have more than one field specified at a time') : wrong;
}

function mountViolations(
  path: string,
  mounts: readonly JsonObject[],
  volumes: ReadonlySet<string>,
): readonly Violation[] {
  const points = new Set<string>();
  return ofEach(mounts, (mount, position) => {
    const at = index(path, position);
    const [name, point] = [wordOf(mount['name']), wordOf(mount['mountPath'])];
    const isTaken = points.has(point);
    points.add(point);
    return [
      ...(name === '' ? [required(child(at, 'name'))] : []),
      ...(volumes.has(name) ? [] : [notFoundValue(child(at, 'name'), name)]),
      ...(point === '' ? [required(child(at, 'mountPath'))] : []),
      ...(isTaken ? [invalid(child(at, 'mountPath'), point, 'must be unique')] : []),
    ];
  });
}

/** Nothing is asked for, or had, that is less than nothing, or asked for beyond what may be had. */
function resourceViolations(
  path: string,
  { limits = {}, requests = {} }: NonNullable<Container['resources']>,
): readonly Violation[] {
  const asked = child(path, 'requests');
  return [
    ...ofEach(Object.entries(limits), ([name, amount]) => negative(mapKey(child(path, 'limits'), name), amount)),
    ...ofEach(Object.entries(requests), ([name, amount]) => [
      ...negative(mapKey(asked, name), amount),
      ...(isMore(amount, limits[name])
        ? [invalid(asked, String(amount), `must be less than or equal to ${name} limit of ${String(limits[name])}`)]
        : []),
    ]),
  ];
}

function negative(path: string, amount: Json): readonly Violation[] {
  const quantity = parseQuantity(String(amount));
  return 'wrong' in quantity || signOf(quantity) >= 0
    ? []
    : [invalid(path, String(amount), 'must be greater than or equal to 0')];
}

function isMore(amount: Json, limit: Json | undefined): boolean {
  if (limit === undefined) return false;
  const [left, right] = [parseQuantity(String(amount)), parseQuantity(String(limit))];
  return !('wrong' in left) && !('wrong' in right) && compareQuantities(left, right) > 0;
}

/** Of what templates of pods may say otherwise. */
export const untrimmed = (path: string, image: string): readonly Violation[] =>
  image.trim() === image ? [] : [invalid(child(path, 'image'), image, 'must not have leading or trailing whitespace')];
