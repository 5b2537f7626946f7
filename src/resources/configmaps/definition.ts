import { type ConfigMap, ConfigMaps } from '../../api/kinds/config-map.js';
import { configKey, nameRules } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import { sortedNames } from '../../api/text-order.js';
import { eachInvalid, invalid, mapKey, tooLong, type Violation, validateEachInSteps } from '../../api/violations.js';
import { defineResource } from '../../registry/resource-definition.js';
import { boolean, bytes, field, map, optional, string } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { age, column } from '../columns.js';
import { coreStruct } from '../core-struct.js';
import { base64Bytes, maxContentBytes, validateImmutableContents, withoutNulls } from '../immutable-contents.js';

export const configMapSchema = coreStruct(
  'ConfigMap',
  {
    ...objectMembers,
    immutable: optional(4, boolean(), {
      description: 'If true, the contents can no longer be changed, nor this field.',
    }),
    data: field(2, map(string()), { description: 'Text values by key.' }),
    binaryData: field(3, map(bytes()), {
      description: 'Binary values by key; keys must not overlap with those of data.',
    }),
  },
  { description: 'Configuration data for programs.' },
);

function* validateContents({ data, binaryData }: ConfigMap): Steps<readonly Violation[]> {
  const wrongKey = (member: string, key: string): readonly Violation[] =>
    eachInvalid(mapKey(member, key), key, configKey(key));
  const isBinary = (key: string): boolean => binaryData !== undefined && Object.hasOwn(binaryData, key);
  const texts = sortedNames(data ?? {});
  yield;
  const binaries = sortedNames(binaryData ?? {});
  yield;
  const size =
    texts.reduce((sum, key) => sum + Buffer.byteLength(data?.[key] ?? ''), 0) +
    binaries.reduce((sum, key) => sum + base64Bytes(binaryData?.[key] ?? ''), 0);
  yield;
  return [
    ...(yield* validateEachInSteps(texts, (key) => [
      ...wrongKey('data', key),
      ...(isBinary(key) ? [invalid(mapKey('data', key), key, 'duplicate of key present in binaryData')] : []),
    ])),
    ...(yield* validateEachInSteps(binaries, (key) => wrongKey('binaryData', key))),
    // `[]` is how Kubernetes spells the path of the whole object.
    ...(size > maxContentBytes ? [tooLong('[]', maxContentBytes)] : []),
  ];
}

const count = (members: object | undefined): number => Object.keys(members ?? {}).length;

export const configMaps = defineResource<ConfigMap>({
  ...ConfigMaps,
  origin: 'built-in',
  schema: configMapSchema,
  nameRule: nameRules.dnsSubdomain,
  updateRules: ['metadata change', 'change', 'metadata', 'contents'],
  unconditionalUpdate: true,
  columns: [
    column(
      'Data',
      "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
      ({ data, binaryData }: ConfigMap) => count(data) + count(binaryData),
    ),
    age,
  ],
  defaults(configMap) {
    const binaryData = withoutNulls(configMap.binaryData);
    return binaryData === configMap.binaryData || binaryData === undefined ? configMap : { ...configMap, binaryData };
  },
  validate: validateContents,
  validateChange(next, previous, _, known) {
    // In Kubernetes every ConfigMap has data, if only an empty map.
    const emptied = new Set(known?.emptied);
    emptied.delete('data');
    return validateImmutableContents(next, previous, ['data', 'binaryData'], emptied);
  },
});
