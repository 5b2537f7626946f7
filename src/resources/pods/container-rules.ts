import { trimSpace } from '../../api/go-text.js';
import type { Container } from '../../api/kinds/pod.js';
import { dnsLabel } from '../../api/names.js';
import type { Json, JsonObject } from '../../api/object.js';
import { compareQuantities, parseQuantity, signOf } from '../../api/quantity.js';
import {
  child,
  index,
  invalid,
  mapKey,
  notFoundValue,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { objectsOf, requiredText, supportedWord, textOr } from './common-rules.js';
import { environmentViolations } from './environment-rules.js';
import { portViolations } from './port-rules.js';

const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];

/** Validates a container of any kind; `volumes` are the names of the volumes that it can mount. */
export function containerViolations(
  path: string,
  container: Container,
  volumes: ReadonlySet<string>,
): readonly Violation[] {
  const { name = '', image = '', imagePullPolicy = '', resources = {} } = container;
  return [
    ...requiredText(child(path, 'name'), name, dnsLabel),
    ...(image === '' ? [required(child(path, 'image'))] : []),
    ...supportedWord(
      child(path, 'terminationMessagePolicy'),
      textOr(container['terminationMessagePolicy']),
      messagePolicies,
    ),
    ...portViolations(child(path, 'ports'), container.ports ?? []),
    ...environmentViolations(path, container),
    ...mountViolations(child(path, 'volumeMounts'), objectsOf(container['volumeMounts']), volumes),
    ...supportedWord(child(path, 'imagePullPolicy'), imagePullPolicy, pullPolicies),
    ...resourceViolations(child(path, 'resources'), resources),
  ];
}

function mountViolations(
  path: string,
  mounts: readonly JsonObject[],
  volumes: ReadonlySet<string>,
): readonly Violation[] {
  const points = new Set<string>();
  return validateEach(mounts, (mount, position) => {
    const at = index(path, position);
    const [name, point] = [textOr(mount['name']), textOr(mount['mountPath'])];
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

/** Checks that no resource is negative and that no request exceeds its limit. */
function resourceViolations(
  path: string,
  { limits = {}, requests = {} }: NonNullable<Container['resources']>,
): readonly Violation[] {
  const requestsPath = child(path, 'requests');
  return [
    ...validateEach(Object.entries(limits), ([name, amount]) => negative(mapKey(child(path, 'limits'), name), amount)),
    ...validateEach(Object.entries(requests), ([name, amount]) => [
      ...negative(mapKey(requestsPath, name), amount),
      ...(isMore(amount, limits[name])
        ? [
            invalid(
              requestsPath,
              String(amount),
              `must be less than or equal to ${name} limit of ${String(limits[name])}`,
            ),
          ]
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

/** Checks that an image has no surrounding white space, which it may have in pod templates. */
export const untrimmedImage = (path: string, image: string): readonly Violation[] =>
  trimSpace(image) === image
    ? []
    : [invalid(child(path, 'image'), image, 'must not have leading or trailing whitespace')];
