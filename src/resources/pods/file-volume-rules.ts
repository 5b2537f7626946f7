import type { Domains } from '../../api/domains.js';
import { podCertificateRange } from '../../api/kinds/pod-certificate-request.js';
import { type LabelSelectorSpec, validateLabelSelector } from '../../api/label-selectors.js';
import type { JsonObject } from '../../api/object.js';
import { signerNameViolations } from '../../api/signer-name.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  eachInvalid,
  forbiddenField,
  index,
  invalid,
  invalidInSteps,
  notSupported,
  required,
  type Violation,
  validateEach,
  validateEachInSteps,
} from '../../api/violations.js';
import { wrongBundleName } from '../clustertrustbundles/bundle-name.js';
import { userAnnotationViolations } from '../user-annotations.js';
import { backstepProblems, objectsOf, requiredText, structOf, textOr } from './common-rules.js';
import { fieldReferenceViolations, resourceReferenceViolations } from './reference-rules.js';

/** Validation of volumes whose files are made from API objects. */

const modeViolations = (path: string, mode: unknown): readonly Violation[] =>
  typeof mode === 'number' && (mode < 0 || mode > 0o777)
    ? [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
    : [];

/** Returns why a file's path relative to the volume is invalid. */
const localPath = (path: string): readonly string[] => [
  ...(path.startsWith('/') ? ['must be a relative path'] : []),
  ...backstepProblems(path),
  ...(path.startsWith('..') && !path.startsWith('../') ? ["must not start with '..'"] : []),
];

/** Checks that a file's path is given, since `localPath` accepts an empty one, and that it is valid. */
const filePath = (path: string, file: string): readonly Violation[] => requiredText(path, file, localPath);

const itemViolations = (path: string, item: JsonObject): readonly Violation[] => [
  ...requiredText(child(path, 'key'), textOr(item['key'])),
  ...filePath(child(path, 'path'), textOr(item['path'])),
  ...modeViolations(child(path, 'mode'), item['mode']),
];

const itemsViolations = (path: string, source: JsonObject): readonly Violation[] =>
  validateEach(objectsOf(source['items']), (item, at) => itemViolations(index(child(path, 'items'), at), item));

/** Validates a volume of a Secret or ConfigMap; `name` is the member that names the object. */
export const objectVolumeViolations = (
  path: string,
  source: JsonObject,
  name: 'name' | 'secretName',
): readonly Violation[] => [
  ...requiredText(child(path, name), textOr(source[name])),
  ...modeViolations(child(path, 'defaultMode'), source['defaultMode']),
  ...itemsViolations(path, source),
];

/** Validates a downward API volume. Errors do not give a file's index in its list. */
export const downwardApiViolations = (path: string, source: JsonObject): readonly Violation[] => [
  ...modeViolations(child(path, 'defaultMode'), source['defaultMode']),
  ...validateEach(objectsOf(source['items']), (file) => factViolations(path, file)),
];

function factViolations(path: string, file: JsonObject): readonly Violation[] {
  const [field, resource] = [structOf(file['fieldRef']), structOf(file['resourceFieldRef'])];
  return [
    ...filePath(child(path, 'path'), textOr(file['path'])),
    ...(field === undefined ? [] : fieldReferenceViolations(child(path, 'fieldRef'), field, 'file')),
    ...(field === undefined || resource === undefined
      ? []
      : [invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]),
    ...(field !== undefined || resource === undefined
      ? []
      : resourceReferenceViolations(child(path, 'resourceFieldRef'), resource, 'file')),
    ...(field === undefined && resource === undefined
      ? [required(path, 'one of fieldRef and resourceFieldRef is required')]
      : []),
    ...modeViolations(child(path, 'mode'), file['mode']),
  ];
}

/**
 * Validates a volume of several sources in one directory (`validateProjectionSources` of Kubernetes' core/validation).
 */
export function* projectedVolumeViolations(
  path: string,
  volume: JsonObject,
  domains: Domains,
): Steps<readonly Violation[]> {
  const usedPaths = new Set<string>();
  const conflict: Conflict = (file, shown = file) => {
    const isTaken = usedPaths.has(file);
    usedPaths.add(file);
    return isTaken ? [invalid(path, shown, 'conflicting duplicate paths')] : [];
  };
  const sources = yield* validateEachInSteps(objectsOf(volume['sources']), function* (source, at): Steps<
    readonly Violation[]
  > {
    const sourcePath = index(child(path, 'sources'), at);
    const found: Violation[] = [];
    let count = 0;
    for (const [sourceType, rule] of Object.entries(projections)) {
      const projected = structOf(source[sourceType]);
      if (projected === undefined) continue;
      count += 1;
      found.push(
        ...(yield* rule({ at: child(sourcePath, sourceType), volume: path, source: projected, conflict, domains })),
      );
    }
    if (count > 1) found.push(forbiddenField(sourcePath, 'may not specify more than 1 volume type per source'));
    return found;
  });
  return [...modeViolations(child(path, 'defaultMode'), volume['defaultMode']), ...sources];
}

/** Reports a file that is already in the volume; `shown` is printed in place of its path. */
type Conflict = (file: string, shown?: string) => readonly Violation[];

interface Projection {
  readonly at: string;
  /** Path of the whole volume. */
  readonly volume: string;
  readonly source: JsonObject;
  readonly conflict: Conflict;
  readonly domains: Domains;
}

function* objectProjection({ at, source, conflict }: Projection): Steps<readonly Violation[]> {
  const name = textOr(source['name']);
  return [
    ...requiredText(child(at, 'name'), name),
    ...(yield* validateEachInSteps(objectsOf(source['items']), (item, position) => {
      const file = textOr(item['path']);
      return [
        ...itemViolations(index(child(at, 'items'), position), item),
        ...(file === '' ? [] : conflict(file, name)),
      ];
    })),
  ];
}

/** Rules by source, in the order in which Kubernetes checks them. */
const projections: Readonly<Record<string, (projection: Projection) => Steps<readonly Violation[]>>> = {
  secret: objectProjection,
  configMap: objectProjection,
  *downwardAPI({ at, source, conflict }) {
    return yield* validateEachInSteps(objectsOf(source['items']), (file) => {
      const path = textOr(file['path']);
      return [...factViolations(at, file), ...(path === '' ? [] : conflict(path))];
    });
  },
  *serviceAccountToken({ at, volume, source }) {
    const { expirationSeconds: seconds = 0 } = source;
    const wrong = (message: string): Violation => invalid(child(at, 'expirationSeconds'), seconds, message);
    return [
      ...(Number(seconds) < 600 ? [wrong('may not specify a duration less than 10 minutes')] : []),
      ...(Number(seconds) > 2 ** 32 ? [wrong('may not specify a duration larger than 2^32 seconds')] : []),
      ...filePath(child(volume, 'path'), textOr(source['path'])),
    ];
  },
  *clusterTrustBundle({ at, source, conflict }) {
    const path = textOr(source['path']);
    return [...(yield* bundleViolations(at, source)), ...filePath(child(at, 'path'), path), ...conflict(path)];
  },
  *podCertificate({ at, source, conflict, domains }) {
    const files = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const;
    const named = files.filter((member) => textOr(source[member]) !== '');
    return [
      ...(yield* certificateViolations(at, source, domains)),
      ...named.flatMap((member) => {
        const path = textOr(source[member]);
        return [...filePath(child(at, member), path), ...conflict(path)];
      }),
      ...(named.length === 0
        ? [required(at, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath')]
        : []),
    ];
  },
};

/** Validates a source of trust anchors: of one bundle, or of all bundles of a signer. */
function* bundleViolations(at: string, source: JsonObject): Steps<readonly Violation[]> {
  const { name = null, signerName = null, labelSelector = null } = source;
  if (name !== null && signerName !== null)
    return [yield* invalidInSteps(at, inOwnNames(source), 'only one of name and signerName may be used')];
  if (name !== null) {
    const wrong = wrongBundleReference(textOr(name)).map((text) => `not a valid clustertrustbundlename: ${text}`);
    const selectorAt = child(at, 'labelSelector');
    return [
      ...(name === '' ? [required(child(at, 'name'), 'must be a valid object name')] : []),
      ...eachInvalid(child(at, 'name'), name, wrong),
      ...(labelSelector === null
        ? []
        : [yield* invalidInSteps(selectorAt, labelSelector, 'labelSelector must be unset if name is specified')]),
    ];
  }
  if (signerName === null) return [required(at, 'either name or signerName must be specified')];
  const signerAt = child(at, 'signerName');
  return [
    ...(signerName === '' ? [required(signerAt, 'must be a valid signer name')] : []),
    ...signerNameViolations(signerAt, textOr(signerName)),
    ...(yield* validateLabelSelector(labelSelector as LabelSelectorSpec | null, child(at, 'labelSelector'))),
  ];
}

/** Returns why a reference to a bundle is invalid. What precedes the last colon of the name is the signer. */
function wrongBundleReference(name: string): readonly string[] {
  const end = name.lastIndexOf(':');
  const signer = end === -1 ? '' : name.slice(0, end).replaceAll(':', '/');
  return wrongBundleName(name, signer, { prefix: false });
}

/** Returns the source as Go prints the struct, whose members have only their Go names. */
const inOwnNames = ({
  name,
  signerName,
  labelSelector = null,
  optional = null,
  path = '',
}: JsonObject): JsonObject => ({
  Name: name ?? null,
  SignerName: signerName ?? null,
  LabelSelector: labelSelector,
  Optional: optional,
  Path: path,
});

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
function* certificateViolations(at: string, source: JsonObject, { signer }: Domains): Steps<readonly Violation[]> {
  const [signerName, keyType] = [textOr(source['signerName']), textOr(source['keyType'])];
  const { maxExpirationSeconds: seconds } = source;
  const { least, most } = podCertificateRange(signerName, signer);
  const beyond = (bound: string): readonly Violation[] => [
    invalid(child(at, 'maxExpirationSeconds'), seconds, `if provided, maxExpirationSeconds must be ${bound}`),
  ];
  return [
    ...signerNameViolations(child(at, 'signerName'), signerName),
    ...(yield* userAnnotationViolations(child(at, 'userAnnotations'), structOf(source['userAnnotations']) ?? {})),
    ...(keyTypes.includes(keyType) ? [] : [notSupported(child(at, 'keyType'), keyType, keyTypes)]),
    ...(typeof seconds === 'number' && seconds < least ? beyond(`>= ${least}`) : []),
    ...(typeof seconds === 'number' && seconds > most ? beyond(`<= ${most}`) : []),
  ];
}
