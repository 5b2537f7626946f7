import { changedCopy } from '../../api/changed-copy.js';
import { type Domains, defaultDomains, signerKeyIn } from '../../api/domains.js';
import { cannotUnmarshal } from '../../api/json-exact.js';
import { JsonSyntaxError, readJson } from '../../api/json-text.js';
import { type Secret, Secrets, secretTypes, serviceAccountNameAnnotation } from '../../api/kinds/secret.js';
import { configKey, nameRules } from '../../api/names.js';
import { isObject, type Json, member, setMember } from '../../api/object.js';
import { DeferredWork, type Steps } from '../../api/steps.js';
import { sortedNames } from '../../api/text-order.js';
import {
  eachInvalid,
  invalid,
  invalidTypedString,
  mapKey,
  required,
  tooLong,
  type Violation,
  validateEachInSteps,
} from '../../api/violations.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { boolean, bytes, field, map, optional, string } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { age, column } from '../columns.js';
import { coreStruct } from '../core-struct.js';
import { base64Bytes, maxContentBytes, validateImmutableContents, withoutNulls } from '../immutable-contents.js';
import { keyPairProblem } from './key-pair.js';

const secretSchema = coreStruct(
  'Secret',
  {
    ...objectMembers,
    immutable: optional(5, boolean(), {
      description: 'If true, the contents can no longer be changed, nor this field.',
    }),
    data: field(2, map(bytes()), { description: 'Binary values by key, in base64.' }),
    stringData: field(4, map(string()), {
      writeOnly: true,
      description: 'Text values by key. They are merged into data on every write, and never returned.',
    }),
    type: field(3, string({ go: 'v1.SecretType' }), {
      description: 'Type of the Secret, such as Opaque (the default); well-known types have rules for the data.',
    }),
  },
  { description: 'Confidential data, such as passwords, tokens and keys.' },
);

/** Moves `stringData` into `data` and sets the default type, Opaque. */
function* withDefaults({ stringData, ...secret }: Secret): Steps<Secret> {
  const encoded = withoutNulls(secret.data);
  yield;
  const texts = stringData ?? {};
  const names = Object.keys(texts);
  const later = new DeferredWork();
  const encodeAt = (data: Record<string, Json>, at: number): void => {
    const name = names[at] ?? '';
    setMember(data, name, Buffer.from(texts[name] ?? '', 'utf8').toString('base64'));
  };
  const data = names.length === 0 ? encoded : changedCopy(encoded ?? {}, names.length, encodeAt, later).copy;
  yield* later.rest();
  return {
    ...secret,
    ...(data === undefined ? {} : { data: data as Readonly<Record<string, string>> }),
    type: secret.type || secretTypes.opaque,
  };
}

const valueAt = ({ data }: Secret, key: string): string | undefined => data && member(data, key);
const bytesOf = (secret: Secret, key: string): Buffer => Buffer.from(valueAt(secret, key) ?? '', 'base64');

/** Returns a rule that requires these keys, with one violation for each missing key. */
const requireKeys =
  (...keys: readonly string[]) =>
  (secret: Secret): readonly Violation[] =>
    keys.filter((key) => valueAt(secret, key) === undefined).map((key) => required(mapKey('data', key)));

const requireJson =
  (key: string) =>
  (secret: Secret): readonly Violation[] => {
    if (valueAt(secret, key) === undefined) return [required(mapKey('data', key))];
    const problem = jsonObjectProblem(bytesOf(secret, key));
    return problem === undefined ? [] : [invalid(mapKey('data', key), '<secret contents redacted>', problem)];
  };

/** Returns why Go cannot decode the text as a JSON object; undefined if it can. */
function jsonObjectProblem(text: Buffer): string | undefined {
  try {
    const { value } = readJson(text);
    if (value === null || isObject(value)) return undefined;
    return cannotUnmarshal(value, 'map[string]interface {}');
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}

/** Rules of Secrets by type, for the types that have rules. */
type TypeRules = ReadonlyMap<string, (secret: Secret) => readonly Violation[]>;
const typeRulesIn = (domains: Domains): TypeRules => {
  const annotation = signerKeyIn(domains, serviceAccountNameAnnotation);
  const rules: readonly (readonly [string, (secret: Secret) => readonly Violation[]])[] = [
    [
      secretTypes.serviceAccountToken,
      ({ metadata }: Secret) =>
        metadata.annotations?.[annotation] ? [] : [required(mapKey('metadata.annotations', annotation))],
    ],
    [secretTypes.dockerConfig, requireJson('.dockercfg')],
    [secretTypes.dockerConfigJson, requireJson('.dockerconfigjson')],
    [
      secretTypes.basicAuth,
      (secret: Secret) => {
        const missing = requireKeys('username', 'password')(secret);
        return missing.length === 2 ? missing : [];
      },
    ],
    [
      secretTypes.sshAuth,
      (secret: Secret) => (valueAt(secret, 'ssh-privatekey') ? [] : [required(mapKey('data', 'ssh-privatekey'))]),
    ],
    [secretTypes.tls, requireKeys('tls.crt', 'tls.key')],
  ];
  return new Map(rules.map(([type, rule]) => [signerKeyIn(domains, type), rule]));
};

function* validateContents(secret: Secret, typeRules: TypeRules): Steps<readonly Violation[]> {
  const { data } = secret;
  const keys = sortedNames(data ?? {});
  yield;
  const size = keys.reduce((sum, key) => sum + base64Bytes(data?.[key] ?? ''), 0);
  yield;
  return [
    ...(yield* validateEachInSteps(keys, (key) => eachInvalid(mapKey('data', key), key, configKey(key)))),
    ...(size > maxContentBytes ? [tooLong('data', maxContentBytes)] : []),
    ...(typeRules.get(secret.type ?? '')?.(secret) ?? []),
  ];
}

const validateType = (next: Secret, previous: Secret): readonly Violation[] =>
  next.type === previous.type ? [] : [invalidTypedString('type', next.type ?? '', 'field is immutable')];

/** Returns the definition of Secret; the types that have rules are under the signer domain. */
export function secretDefinition(domains: Domains = defaultDomains): ResourceDefinition<Secret> {
  const typeRules = typeRulesIn(domains);
  const tls = signerKeyIn(domains, secretTypes.tls);
  return defineResource<Secret>({
    ...Secrets,
    origin: 'built-in',
    schema: secretSchema,
    nameRule: nameRules.dnsSubdomain,
    updateRules: ['metadata change', 'change', 'metadata', 'contents'],
    unconditionalUpdate: true,
    selectableFields: { type: ({ type }) => type ?? '' },
    columns: [
      column(
        'Type',
        'Used to facilitate programmatic handling of secret data. More info: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types',
        ({ type }: Secret) => type ?? '',
      ),
      column(
        'Data',
        "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
        ({ data }: Secret) => Object.keys(data ?? {}).length,
      ),
      age,
    ],

    defaults: withDefaults,

    validate: (next) => validateContents(next, typeRules),

    *validateChange(next, previous, _, known) {
      return [
        ...validateType(next, previous),
        ...(yield* validateImmutableContents(next, previous, ['data'], known?.emptied)),
      ];
    },

    warnings(next) {
      if (next.type !== tls) return [];
      const problem = keyPairProblem(bytesOf(next, 'tls.crt'), bytesOf(next, 'tls.key'));
      return problem === undefined ? [] : [problem];
    },
  });
}
