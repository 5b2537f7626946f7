import { readFileSync } from 'node:fs';
import { Complaints } from '../../src/api/complaints.js';
import { ApiError } from '../../src/api/errors.js';
import {
  type ApiObject,
  type Json,
  type JsonObject,
  type ManagedFieldsEntry,
  type Unstructured,
  unstructured,
} from '../../src/api/object.js';
import { runSync, type Steps } from '../../src/api/steps.js';
import { compareText } from '../../src/api/text-order.js';
import { applyAndDecode, readApplyConfiguration } from '../../src/apiserver/patch/apply.js';
import { applyPatch, type DecodedObject, patchTypeOf, readPatch } from '../../src/apiserver/patch/index.js';
import { ignoreTimestampChanges } from '../../src/apply/ignore-timestamps.js';
import { configMapSchema } from '../../src/resources/configmaps/definition.js';
import { mutatingWebhookConfigurations } from '../../src/resources/mutatingwebhookconfigurations/definition.js';
import { serviceAccountSchema } from '../../src/resources/serviceaccounts/definition.js';
import { validatingWebhookConfigurations } from '../../src/resources/validatingwebhookconfigurations/definition.js';
import { compileDecoder } from '../../src/schema/decode.js';
import type { DecodeReport } from '../../src/schema/decode-state.js';
import { applyDefaults, dropNulls } from '../../src/schema/default.js';
import { readSchemaProps } from '../../src/schema/json-schema-props.js';
import type { Schema } from '../../src/schema/schema.js';
import { toSchema } from '../../src/schema/to-schema.js';
import { recorded } from './at-once.js';

/**
 * Conversations about field ownership, held with a minimal server that only decodes, sets defaults, records owners and
 * stores.
 */
export interface Conversation {
  readonly about: string;
  /** The schema of the custom resource `widgets`, as in its definition. */
  readonly schema?: JsonObject;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly id: string;
  readonly do: 'create' | 'update' | 'apply' | 'merge' | 'json' | 'strategic';
  readonly resource: string;
  readonly name: string;
  readonly as?: string;
  readonly force?: boolean;
  readonly dryRun?: string;
  /** Whether a second or more has passed since the step before. */
  readonly later?: boolean;
  readonly body?: Json;
  /** Sent instead of `body`. */
  readonly text?: string;
  readonly code: number;
  readonly error?: string;
  readonly causes?: readonly { readonly field: string; readonly message: string }[];
  readonly object?: JsonObject;
  readonly owners?: readonly Json[];
}

export const readConversation = (file: string): Conversation => JSON.parse(readFileSync(file, 'utf8')) as Conversation;

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Schema;
  readonly origin: 'built-in' | 'custom';
  defaults?(object: ApiObject): ApiObject;
  prepare?(object: ApiObject): ApiObject;
}

const admissionregistration = { group: 'admissionregistration.k8s.io', version: 'v1', origin: 'built-in' as const };
const builtIn: Readonly<Record<string, Kind>> = {
  configmaps: { group: '', version: 'v1', kind: 'ConfigMap', schema: configMapSchema, origin: 'built-in' },
  serviceaccounts: {
    group: '',
    version: 'v1',
    kind: 'ServiceAccount',
    schema: serviceAccountSchema,
    origin: 'built-in',
    prepare: (object) => {
      const { secrets } = unstructured(object);
      if (!Array.isArray(secrets)) return object;
      const named: Unstructured = { ...object, secrets: secrets.map(({ name }: { name: string }) => ({ name })) };
      return named;
    },
  },
  validatingwebhookconfigurations: {
    ...admissionregistration,
    kind: 'ValidatingWebhookConfiguration',
    schema: validatingWebhookConfigurations.schema,
    defaults: (object) => validatingWebhookConfigurations.defaults?.(object as never) as unknown as ApiObject,
  },
  mutatingwebhookconfigurations: {
    ...admissionregistration,
    kind: 'MutatingWebhookConfiguration',
    schema: mutatingWebhookConfigurations.schema,
    defaults: (object) => mutatingWebhookConfigurations.defaults?.(object as never) as unknown as ApiObject,
  },
};

function kindsOf({ schema, steps }: Conversation): Readonly<Record<string, Kind>> {
  if (schema === undefined) return builtIn;
  const apiVersion = steps.map(({ body }) => (body as JsonObject | undefined)?.['apiVersion']).find(Boolean);
  const [group = '', version = ''] = String(apiVersion).split('/');
  const widgets = toSchema(readSchemaProps(schema, ['x-kubernetes-']));
  return { ...builtIn, widgets: { group, version, kind: 'Widget', schema: widgets, origin: 'custom' } };
}

const mediaTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/** The outcome of a step, in the form in which steps state what to expect. */
export type Outcome = Pick<Step, 'code' | 'error' | 'causes' | 'object' | 'owners'>;

/** Holds a conversation; returns one outcome for each step. */
export async function hold(conversation: Conversation): Promise<readonly Outcome[]> {
  const kinds = kindsOf(conversation);
  const objects = new Map<string, ApiObject>();
  let now = Date.parse('2026-01-01T00:00:00Z');
  const outcomes: Outcome[] = [];
  for (const step of conversation.steps) {
    if (step.later) now += 1_100;
    const kind = kinds[step.resource];
    if (kind === undefined) throw new Error(`no kind for ${step.resource}`);
    const key = `${step.resource}/${step.name}`;
    const live = objects.get(key);
    try {
      const written = await write(kind, step, live, now);
      const stored = settled(kind, step, live, written);
      if (step.dryRun === undefined) objects.set(key, stored);
      outcomes.push(outcomeOf(stored, live === undefined ? 201 : 200));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Their order is random in Kubernetes, so the recorded ones were sorted by field.
      const causes = error.details?.causes
        ?.map(({ field, message }) => ({ field: field ?? '', message: message ?? '' }))
        .sort((a, b) => compareText(a.field, b.field));
      outcomes.push({ code: error.code, error: error.message, ...(causes === undefined ? {} : { causes }) });
    }
  }
  return outcomes;
}

function decode(kind: Kind, value: JsonObject, report: DecodeReport = { strict: new Complaints() }): ApiObject {
  const { schema, origin, defaults } = kind;
  const decoded =
    origin === 'built-in'
      ? (compileDecoder(schema)(value, report) as JsonObject)
      : applyDefaults(dropNulls(value, { ...schema, properties: schema.properties ?? new Map() }), schema);
  const object = { ...decoded, apiVersion: apiVersionOf(kind), kind: kind.kind } as unknown as ApiObject;
  return defaults?.(object) ?? object;
}

function* decoded(kind: Kind, value: JsonObject): Steps<DecodedObject> {
  yield;
  const strict = new Complaints();
  return { object: decode(kind, value, { strict }), strict: strict.texts };
}

const apiVersionOf = ({ group, version }: Kind): string => (group === '' ? version : `${group}/${version}`);

async function write(kind: Kind, step: Step, live: ApiObject | undefined, now: number): Promise<ApiObject> {
  const writing = { schema: kind.schema, apiVersion: apiVersionOf(kind), manager: step.as ?? 'unknown', now };
  const bytes = Buffer.from(step.text ?? JSON.stringify(step.body));
  const body = { bytes, contentType: undefined };
  if (step.do === 'create' || step.do === 'update') {
    return recorded({ ...writing, live, next: decode(kind, step.body as JsonObject) });
  }
  if (step.do === 'apply') {
    const { config } = await readApplyConfiguration(body);
    const { object } = await applyAndDecode(
      { ...writing, live, config, kind, force: step.force ?? false },
      { isBuiltIn: kind.origin === 'built-in', decode: (value) => decoded(kind, value) },
    );
    if (object.metadata.name !== step.name) {
      throw new ApiError({
        reason: 'BadRequest',
        message: `the name of the object (${object.metadata.name}) does not match the name on the URL (${step.name})`,
      });
    }
    return object;
  }
  const type = patchTypeOf(mediaTypes[step.do], kind.origin);
  if (type === 'apply' || live === undefined) throw new Error('nothing to patch');
  const steps = applyPatch(readPatch(type, body, { fieldValidation: 'Warn' }), {
    current: live as unknown as JsonObject,
    schema: kind.schema,
    fieldValidation: 'Warn',
    converts: step.do === 'strategic',
    decode: (value) => decoded(kind, value),
  });
  return recorded({ ...writing, live, next: runSync(steps).object });
}

function settled(kind: Kind, step: Step, live: ApiObject | undefined, written: ApiObject): ApiObject {
  const prepared = kind.prepare?.(written) ?? written;
  const { uid: _, ...metadata } = prepared.metadata;
  const object = { ...prepared, metadata: { ...metadata, name: step.name, uid: 'u' } };
  return live === undefined ? object : runSync(ignoreTimestampChanges(live, object));
}

const leftOut: ReadonlySet<string> = new Set(['uid', 'managedFields', 'namespace', 'creationTimestamp', 'generation']);

function outcomeOf(object: ApiObject, code: number): Outcome {
  const { apiVersion: _, kind: __, metadata, ...rest } = object;
  const shown = Object.fromEntries(Object.entries(metadata).filter(([name]) => !leftOut.has(name)));
  const owners = (metadata.managedFields ?? []).map(ownerOf);
  return { code, object: { ...rest, metadata: shown } as JsonObject, owners };
}

const ownerOf = ({ manager, operation, subresource, time, fieldsV1 }: ManagedFieldsEntry): Json =>
  ({
    manager,
    operation,
    ...(subresource === undefined ? {} : { subresource }),
    ...(time === undefined ? { timeless: true } : {}),
    fields: fieldsV1,
  }) as unknown as Json;
