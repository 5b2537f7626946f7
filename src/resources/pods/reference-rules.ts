import { goLowerCase } from '../../api/go-text.js';
import { qualifiedName } from '../../api/names.js';
import type { JsonObject } from '../../api/object.js';
import { compareQuantities, parseQuantity, quantityText, wholeQuantity } from '../../api/quantity.js';
import { child, eachInvalid, invalid, notSupported, required, type Violation } from '../../api/violations.js';
import { textOr } from './common-rules.js';

/** Validation of references to a pod's own fields and resources, in its environment and in files. */

type ReferenceUse = 'env' | 'file';

/** The fields that `ConvertDownwardAPIFieldLabel` of Kubernetes' core/pods knows. */
const knownFields = new Set([
  ...['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
  ...['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'spec.schedulerName'],
  ...['status.phase', 'status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
]);
const fieldsOf: Readonly<Record<ReferenceUse, readonly string[]>> = {
  env: [
    ...['metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName'],
    ...['status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'],
  ],
  file: ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
};

export function fieldReferenceViolations(
  path: string,
  reference: JsonObject,
  where: ReferenceUse,
): readonly Violation[] {
  const [version, field] = [textOr(reference['apiVersion']), textOr(reference['fieldPath'])];
  const at = child(path, 'fieldPath');
  const unknown = (message: string): readonly Violation[] => [
    invalid(at, field, `error converting fieldPath: ${message}`),
  ];
  if (version === '') return [required(child(path, 'apiVersion'))];
  if (field === '') return [required(at)];
  if (version !== 'v1') return unknown(`unsupported pod version: ${version}`);
  const { map, key } = partsOf(field);
  const lower = goLowerCase(key);
  if (map === 'metadata.annotations') return eachInvalid(path, lower, qualifiedName(lower));
  if (map === 'metadata.labels') return eachInvalid(path, key, qualifiedName(key));
  if (map !== undefined) return unknown(`field label does not support subscript: ${field}`);
  const name = field === 'spec.host' ? 'spec.nodeName' : field;
  if (!knownFields.has(name)) return unknown(`field label not supported: ${field}`);
  return fieldsOf[where].includes(name) ? [] : [notSupported(at, name, fieldsOf[where])];
}

/**
 * Splits `map['key']`; `map` is absent if the path has another form. As `SplitMaybeSubscriptedPath` of Kubernetes'
 * fieldpath.
 */
function partsOf(field: string): { readonly map?: string; readonly key: string } {
  const start = field.indexOf("['");
  return start > 0 && field.endsWith("']") && start + 4 <= field.length
    ? { map: field.slice(0, start), key: field.slice(start + 2, -2) }
    : { key: '' };
}

const resources = ['cpu', 'ephemeral-storage', 'memory'];
const knownResources = ['limits', 'requests'].flatMap((list) => resources.map((name) => `${list}.${name}`));
const pages = /^(limits|requests)\.hugepages-/;

const units = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
const unitsText = (of: string): string =>
  `only divisor's values ${units.join(', ')} are supported with the ${of} resource`;
/** The divisors that a resource may have, and the error for any other. */
const divisors: readonly (readonly [resource: RegExp, units: readonly string[], text: string])[] = [
  [/^(limits|requests)\.cpu$/, ['1m', '1'], "only divisor's values 1m and 1 are supported with the cpu resource"],
  [/^(limits|requests)\.memory$/, units, unitsText('memory')],
  [/^(limits|requests)\.ephemeral-storage$/, units, unitsText('local ephemeral storage')],
  [pages, units, unitsText('hugepages')],
];

export function resourceReferenceViolations(
  path: string,
  reference: JsonObject,
  where: ReferenceUse,
): readonly Violation[] {
  const resource = textOr(reference['resource']);
  const at = child(path, 'resource');
  const isKnown = knownResources.includes(resource) || pages.test(resource);
  const wrong =
    where === 'file' && textOr(reference['containerName']) === ''
      ? [required(child(path, 'containerName'))]
      : resource === ''
        ? [required(at)]
        : isKnown
          ? []
          : [notSupported(at, resource, knownResources)];
  return [...wrong, ...divisorViolations(child(path, 'divisor'), resource, reference['divisor'])];
}

function divisorViolations(
  path: string,
  resource: string,
  divisor: JsonObject[string] | undefined,
): readonly Violation[] {
  const quantity = parseQuantity(String(divisor ?? '0'));
  if ('wrong' in quantity || compareQuantities(quantity, wholeQuantity(0n)) === 0) return [];
  const [, allowed, text] = divisors.find(([names]) => names.test(resource)) ?? [];
  return allowed === undefined || allowed.includes(quantityText(quantity)) ? [] : [invalid(path, resource, text)];
}
