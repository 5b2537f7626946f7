import type { Container, PodSpec } from '../../api/kinds/pod.js';
import { configKey, dnsLabel, dnsSubdomain, nameRules } from '../../api/names.js';
import type { JsonObject } from '../../api/object.js';
import {
  child,
  eachInvalid,
  index,
  invalid,
  notFoundValue,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { allContainers, backstepProblems, objectsOf, requiredText, structOf, textOr } from './common-rules.js';
import { fieldReferenceViolations, resourceReferenceViolations } from './reference-rules.js';

/** Validates the environment variables of a container. */
export function environmentViolations(path: string, container: Container): readonly Violation[] {
  const [variablePath, sourcePath] = [child(path, 'env'), child(path, 'envFrom')];
  return [
    ...validateEach(objectsOf(container['env']), (variable, at) =>
      variableViolations(index(variablePath, at), variable),
    ),
    ...validateEach(objectsOf(container['envFrom']), (source, at) => objectViolations(sourcePath, at, source)),
  ];
}

const isPrintable = /^[\x20-\x3c\x3e-\x7e]*$/;
const variableName = (text: string): readonly string[] =>
  isPrintable.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

function variableViolations(path: string, variable: JsonObject): readonly Violation[] {
  const from = structOf(variable['valueFrom']);
  return [
    ...requiredText(child(path, 'name'), textOr(variable['name']), variableName),
    ...(from === undefined ? [] : valueViolations(child(path, 'valueFrom'), from, textOr(variable['value']))),
  ];
}

type SourceRule = (path: string, source: JsonObject) => readonly Violation[];

const keyViolations: SourceRule = (path, { name, key }) => [
  ...eachInvalid(child(path, 'name'), textOr(name), dnsSubdomain(textOr(name))),
  ...requiredText(child(path, 'key'), textOr(key), configKey),
];

/** Rules by source, in the order in which Kubernetes checks them. */
const valueSources: Readonly<Record<string, SourceRule>> = {
  fieldRef: (path, source) => fieldReferenceViolations(path, source, 'env'),
  resourceFieldRef: (path, source) => resourceReferenceViolations(path, source, 'env'),
  configMapKeyRef: keyViolations,
  secretKeyRef: keyViolations,
  fileKeyRef: (path, { key, volumeName, path: file }) => [
    ...requiredText(child(path, 'key'), textOr(key), variableName),
    ...requiredText(child(path, 'volumeName'), textOr(volumeName), dnsLabel),
    ...requiredText(child(path, 'path'), textOr(file), backstepProblems),
  ],
};

const objectNamed: SourceRule = (path, { name }) => requiredText(child(path, 'name'), textOr(name), objectName);
const objectName = (name: string): readonly string[] => nameRules.dnsSubdomain(name, { prefix: true });
const objectSources: Readonly<Record<string, SourceRule>> = { configMapRef: objectNamed, secretRef: objectNamed };

function valueViolations(path: string, from: JsonObject, value: string): readonly Violation[] {
  const { found, count } = sourceViolations(path, from, valueSources);
  if (count > 0 && value !== '') return [...found, invalid(path, '', 'may not be specified when `value` is not empty')];
  return [...found, ...countViolations(path, count, valueSources)];
}

/** Validates an entry of `envFrom`. A wrong number of sources is reported for the whole list. */
function objectViolations(list: string, at: number, source: JsonObject): readonly Violation[] {
  const path = index(list, at);
  const { found, count } = sourceViolations(path, source, objectSources);
  return [
    ...eachInvalid(child(path, 'prefix'), textOr(source['prefix']), variableName(textOr(source['prefix']))),
    ...found,
    ...countViolations(list, count, objectSources),
  ];
}

function sourceViolations(
  path: string,
  from: JsonObject,
  rules: Readonly<Record<string, SourceRule>>,
): { readonly found: readonly Violation[]; readonly count: number } {
  const sources = Object.entries(rules).flatMap(([name, rule]) => {
    const source = structOf(from[name]);
    return source === undefined ? [] : [rule(child(path, name), source)];
  });
  return { found: sources.flat(), count: sources.length };
}

function countViolations(
  path: string,
  count: number,
  rules: Readonly<Record<string, SourceRule>>,
): readonly Violation[] {
  if (count === 1) return [];
  if (count > 1) return [invalid(path, '', 'may not have more than one field specified at a time')];
  const names = Object.keys(rules).map((name) => `\`${name}\``);
  const [most, last] = [names.slice(0, -1).join(', '), names.at(-1)];
  return [invalid(path, '', `must specify one of: ${most} or ${last}`)];
}

/** Checks that files with variables are in emptyDir volumes. */
export function variableFileViolations(spec: PodSpec): readonly Violation[] {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name ?? '', volume]));
  return validateEach(allContainers(spec), ([path, container]) =>
    validateEach(objectsOf(container['env']), (variable, position) => {
      const source = structOf(structOf(variable['valueFrom'])?.['fileKeyRef']);
      if (source === undefined) return [];
      const name = textOr(source['volumeName']);
      const at = child(index(child(path, 'env'), position), 'valueFrom', 'fileKeyRef', 'volumeName');
      const volume = volumes.get(name);
      if (volume === undefined) return [notFoundValue(at, name)];
      return structOf(volume['emptyDir']) ? [] : [invalid(at, name, 'referenced volume must be of type emptyDir')];
    }),
  );
}
