import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../src/api/domains.js';
import { goJson } from '../../src/api/go-text.js';
import { readJson } from '../../src/api/json-text.js';
import type { Json, JsonObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { readYaml } from '../../src/api/yaml.js';
import { writeYaml } from '../../src/api/yaml-writer.js';
import { certificateSigningRequestDefinition } from '../../src/resources/certificatesigningrequests/definition.js';
import { clusterTrustBundleDefinition } from '../../src/resources/clustertrustbundles/definition.js';
import { customResourceDefinitionSchema } from '../../src/resources/customresourcedefinitions/crd-schema.js';
import { builtinDefinitions } from '../../src/resources/index.js';
import { podCertificateRequestDefinition } from '../../src/resources/podcertificaterequests/definition.js';
import {
  localSubjectAccessReviewSchema,
  selfSubjectAccessReviewSchema,
  selfSubjectRulesReviewSchema,
  subjectAccessReviewSchema,
} from '../../src/resources/reviews/access-review-schema.js';
import { selfSubjectReviews } from '../../src/resources/reviews/self-subject-review.js';
import { tokenReviews } from '../../src/resources/reviews/token-review.js';
import { scaleSchema } from '../../src/resources/scale-schema.js';
import { tokenRequestSchema } from '../../src/resources/serviceaccounts/token-request-schema.js';
import { statusSchema } from '../../src/resources/status-schema.js';
import { decodeText } from '../../src/schema/decode.js';
import { arrange } from '../../src/schema/encode.js';
import { itemsOf, structName, valuesOf, wireShape } from '../../src/schema/go-types.js';
import { deleteOptions, listMeta } from '../../src/schema/meta.js';
import { decodeEnvelope, encodeEnvelope, encodeProtobuf } from '../../src/schema/protobuf.js';
import type { Schema } from '../../src/schema/schema.js';

/** Every kind with every field set: a body in JSON, YAML or protobuf can be read in the other two formats. */

const samples = {
  string: 'text',
  bytes: 'AQI=',
  time: '2026-01-02T03:04:05Z',
  'micro-time': '2026-01-02T03:04:05.000006Z',
  quantity: '500m',
  int32: 7,
  int64: 9_007_199_254_740_993n,
  double: 1.5,
  boolean: true,
  'int-or-string': 'http',
  raw: { any: ['thing', 1, null, 9_223_372_036_854_775_807n] },
} as const;

/** Returns a value with every field set; recursive schemas are followed only a few levels. */
function sample(schema: Schema, inside: readonly Schema[] = []): Json | undefined {
  const shape = wireShape(schema);
  if (shape === 'struct') {
    if (inside.filter((one) => one.properties === schema.properties).length > 1) return undefined;
    const out: Record<string, Json> = {};
    for (const [name, member] of schema.properties ?? []) {
      const value = member.wire?.writeOnly ? undefined : sample(member, [...inside, schema]);
      if (value !== undefined) out[name] = value;
    }
    return out;
  }
  const within = (of: Schema, wrap: (value: Json) => Json): Json | undefined => {
    const value = sample(of, inside);
    return value === undefined ? undefined : wrap(value);
  };
  if (shape === 'list') return within(itemsOf(schema), (value) => [value, value]);
  if (shape === 'map') return within(valuesOf(schema), (value) => ({ a: value, 'b.c/d': value }));
  if (shape === 'union') {
    const [first, ...others] = schema.oneOf ?? [];
    return [...others, first]
      .map((one) => (one === undefined ? undefined : sample(one, inside)))
      .find((one) => one !== undefined);
  }
  return samples[shape];
}

const kinds: readonly { readonly schema: Schema; readonly apiVersion: string }[] = [
  ...builtinDefinitions({
    certificates: [
      certificateSigningRequestDefinition(defaultDomains) as never,
      clusterTrustBundleDefinition({ domains: defaultDomains }) as never,
      podCertificateRequestDefinition(defaultDomains) as never,
    ],
  }).map(({ schema, group, version }) => ({ schema, apiVersion: group === '' ? version : `${group}/${version}` })),
  {
    schema: customResourceDefinitionSchema(defaultDomains.extensions.slice(0, 1)),
    apiVersion: 'apiextensions.k8s.io/v1',
  },
  { schema: tokenRequestSchema, apiVersion: 'authentication.k8s.io/v1' },
  ...[
    localSubjectAccessReviewSchema,
    selfSubjectAccessReviewSchema,
    selfSubjectRulesReviewSchema,
    subjectAccessReviewSchema,
  ].map((schema) => ({ schema, apiVersion: 'authorization.k8s.io/v1' })),
  ...[selfSubjectReviews.schema, tokenReviews({ apiAudiences: [] } as never).schema].map((schema) => ({
    schema,
    apiVersion: 'authentication.k8s.io/v1',
  })),
  { schema: scaleSchema, apiVersion: 'autoscaling/v1' },
  { schema: statusSchema, apiVersion: 'v1' },
  { schema: deleteOptions, apiVersion: 'v1' },
];

describe.each(kinds.map((one) => [structName(one.schema), one] as const))('%s', (kind, { schema, apiVersion }) => {
  const full = { ...(sample(schema) as JsonObject), kind, apiVersion };
  const json = goJson(arrange(schema, full));
  const decoded = (
    text: Parameters<typeof decodeText>[1],
  ): { readonly json: string; readonly strict: readonly string[] } => {
    const { value, strict } = runSync(decodeText(schema, text));
    return { json: goJson(arrange(schema, value)), strict };
  };

  test('JSON', () => {
    expect(decoded(readJson(json))).toEqual({ json, strict: [] });
  });

  test('YAML', async () => {
    expect(decoded({ ...(await readYaml(Buffer.from(writeYaml(arrange(schema, full))))), format: 'yaml' })).toEqual({
      json,
      strict: [],
    });
  });

  test('protobuf', () => {
    const bytes = encodeEnvelope({ apiVersion, kind }, encodeProtobuf(schema, full));
    const value = runSync(decodeEnvelope(schema, bytes));
    expect(decoded({ value, exact: value, duplicates: [] })).toEqual({ json, strict: [] });
  });
});

test('every field of a kind sent as protobuf has its own number, except type and version', () => {
  const seen = new Set<Schema>();
  const wrong: string[] = [];
  const visit = (schema: Schema, path: string): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const shape = wireShape(schema);
    if (shape === 'list') visit(itemsOf(schema), path);
    if (shape === 'map') visit(valuesOf(schema), path);
    for (const one of schema.oneOf ?? []) visit(one, path);
    if (shape !== 'struct') return;
    const numbers = new Set<string>();
    for (const [name, member] of schema.properties ?? []) {
      const { number } = member.wire ?? {};
      const within = JSON.stringify(member.wire?.within ?? '');
      const at = `${path}.${name}`;
      if (number === undefined) {
        if (name !== 'kind' && name !== 'apiVersion') wrong.push(at);
      } else if (numbers.has(`${within}/${number}`)) wrong.push(at);
      numbers.add(`${within}/${number}`);
      visit(member, at);
    }
  };
  for (const { schema } of kinds) visit(schema, structName(schema));
  visit(listMeta, 'ListMeta');
  expect(wrong).toEqual([]);
});
