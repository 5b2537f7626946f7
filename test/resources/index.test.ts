import { expect, test } from 'vitest';
import { type ApiObject, groupResource } from '../../src/api/object.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';
import { builtinDefinitions } from '../../src/resources/index.js';
import { scaleSchema } from '../../src/resources/scale-schema.js';
import { tokenRequestSchema } from '../../src/resources/serviceaccounts/token-request-schema.js';
import { statusSchema } from '../../src/resources/status-schema.js';
import type { Schema } from '../../src/schema/schema.js';

const plain = builtinDefinitions();

test('kinds are in discovery order, injected definitions in their places', () => {
  const named = (plural: string): ResourceDefinition => ({ plural, group: 'given' }) as unknown as ResourceDefinition;
  const all = builtinDefinitions({
    authenticationReviews: [named('tokenreviews')],
    authorizationReviews: [named('subjectaccessreviews')],
    certificates: [named('certificatesigningrequests')],
    extensions: [named('customresourcedefinitions')],
  });
  expect(all.map(groupResource)).toEqual([
    'configmaps',
    'events',
    'namespaces',
    'nodes',
    'pods',
    'secrets',
    'serviceaccounts',
    'events.events.k8s.io',
    'tokenreviews.given',
    'subjectaccessreviews.given',
    'certificatesigningrequests.given',
    'clusterrolebindings.rbac.authorization.k8s.io',
    'clusterroles.rbac.authorization.k8s.io',
    'rolebindings.rbac.authorization.k8s.io',
    'roles.rbac.authorization.k8s.io',
    'mutatingadmissionpolicies.admissionregistration.k8s.io',
    'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
    'mutatingwebhookconfigurations.admissionregistration.k8s.io',
    'validatingadmissionpolicies.admissionregistration.k8s.io',
    'validatingadmissionpolicybindings.admissionregistration.k8s.io',
    'validatingwebhookconfigurations.admissionregistration.k8s.io',
    'customresourcedefinitions.given',
    'leases.coordination.k8s.io',
    'deviceclasses.resource.k8s.io',
  ]);
});

test('the token subresource exists only if an action is given for it', () => {
  const token = {
    type: 'action',
    request: { group: 'g', version: 'v1', kind: 'TokenRequest', schema: {} },
    prepare: async (_key: unknown, asked: ApiObject) => asked,
    answer: async () => ({ apiVersion: 'g/v1', kind: 'TokenRequest', metadata: {} }),
  } as const;
  const subresourcesOf = (all: readonly ResourceDefinition[]): readonly string[] =>
    Object.keys(all.find(({ plural }) => plural === 'serviceaccounts')?.subresources ?? {});
  expect(subresourcesOf(plain)).toEqual([]);
  expect(subresourcesOf(builtinDefinitions({ token }))).toEqual(['token']);
});

/** The properties of writes, by kind. */
test.each([
  ['serviceaccounts', { createOnUpdate: false, unconditionalUpdate: true, answersDeleted: true, generation: false }],
  ['secrets', { createOnUpdate: false, unconditionalUpdate: true, answersDeleted: false, generation: false }],
  ['configmaps', { createOnUpdate: false, unconditionalUpdate: true, answersDeleted: false, generation: false }],
  ['namespaces', { createOnUpdate: false, unconditionalUpdate: true, answersDeleted: 'untold', generation: false }],
  ['events', { createOnUpdate: true, unconditionalUpdate: true, answersDeleted: false, generation: false }],
  ['leases', { createOnUpdate: true, unconditionalUpdate: false, answersDeleted: false, generation: false }],
  ['roles', { createOnUpdate: true, unconditionalUpdate: true, answersDeleted: false, generation: false }],
  ['clusterroles', { createOnUpdate: true, unconditionalUpdate: true, answersDeleted: false, generation: false }],
  ['rolebindings', { createOnUpdate: true, unconditionalUpdate: true, answersDeleted: false, generation: false }],
  [
    'clusterrolebindings',
    { createOnUpdate: true, unconditionalUpdate: true, answersDeleted: false, generation: false },
  ],
  [
    'mutatingadmissionpolicies',
    { createOnUpdate: false, unconditionalUpdate: false, answersDeleted: false, generation: true },
  ],
  [
    'mutatingadmissionpolicybindings',
    { createOnUpdate: false, unconditionalUpdate: false, answersDeleted: false, generation: true },
  ],
  [
    'mutatingwebhookconfigurations',
    { createOnUpdate: false, unconditionalUpdate: false, answersDeleted: false, generation: true },
  ],
  [
    'validatingadmissionpolicies',
    { createOnUpdate: false, unconditionalUpdate: false, answersDeleted: false, generation: true },
  ],
  [
    'validatingadmissionpolicybindings',
    { createOnUpdate: false, unconditionalUpdate: false, answersDeleted: false, generation: true },
  ],
  [
    'validatingwebhookconfigurations',
    { createOnUpdate: false, unconditionalUpdate: false, answersDeleted: false, generation: true },
  ],
  ['pods', { createOnUpdate: false, unconditionalUpdate: true, answersDeleted: true, generation: true }],
  ['nodes', { createOnUpdate: false, unconditionalUpdate: true, answersDeleted: false, generation: false }],
  ['deviceclasses', { createOnUpdate: false, unconditionalUpdate: true, answersDeleted: true, generation: true }],
])('%s', (plural, expected) => {
  const found = plain.find((definition) => definition.plural === plural);
  expect({
    createOnUpdate: found?.createOnUpdate ?? false,
    unconditionalUpdate: found?.unconditionalUpdate ?? false,
    answersDeleted: found?.returnsDeleted ?? false,
    generation: found?.newGeneration !== undefined,
  }).toEqual(expected);
});

/** Yields every struct of a schema once, with a path for messages. */
function structsOf(schema: Schema, path: string, seen = new Set<Schema>()): readonly (readonly [string, Schema])[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const inner = [
    ...[...(schema.properties ?? [])].map(([name, of]) => [`${path}.${name}`, of] as const),
    ...(schema.items === undefined ? [] : [[`${path}[]`, schema.items] as const]),
    ...(typeof schema.additionalProperties === 'object' ? [[`${path}{}`, schema.additionalProperties] as const] : []),
  ];
  const own = schema.properties === undefined ? [] : [[path, schema] as const];
  return [...own, ...inner.flatMap(([name, of]) => structsOf(of, name, seen))];
}

const roots: readonly (readonly [string, Schema])[] = [
  ...plain.map(({ kind, schema }) => [kind, schema] as const),
  ['TokenRequest', tokenRequestSchema],
  ['Scale', scaleSchema],
  ['Status', statusSchema],
];

test.each(roots)('every field of %s has a description and its own protobuf number', (name, schema) => {
  for (const [path, { properties, wire }] of structsOf(schema, name)) {
    expect(wire?.component, path).toMatch(/^io\.k8s\./);
    const numbers = new Set<string>();
    for (const [member, of] of properties ?? []) {
      const at = `${path}.${member}`;
      expect(of.description, at).toBeTruthy();
      const inEnvelope = path === name && (member === 'kind' || member === 'apiVersion');
      if (inEnvelope) continue;
      const number = `${JSON.stringify(of.wire?.within ?? '')}/${of.wire?.number}`;
      expect(of.wire?.number, at).toBeGreaterThan(0);
      expect(numbers, at).not.toContain(number);
      numbers.add(number);
    }
  }
});
