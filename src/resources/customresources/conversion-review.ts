import { Complaints } from '../../api/complaints.js';
import { goTypeName } from '../../api/go-print.js';
import { aggregate } from '../../api/go-text.js';
import { isObject, type Json, type JsonObject, member } from '../../api/object.js';
import { reviewUidMismatch } from '../../api/review-uid.js';
import { runSync } from '../../api/steps.js';
import { anyName, validateMetadata } from '../../registry/metadata-rules.js';
import { anyJson, field, list, string, struct } from '../../schema/builder.js';
import { compileDecoder } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-error.js';
import { same } from '../../schema/same.js';
import { statusSchema } from '../status-schema.js';

/** Requests to webhooks that convert custom resources, and validation of their answers. */

/** Converts objects of any versions and returns them in the same order. `to` is an apiVersion. */
export type RemoteConverter = (objects: readonly JsonObject[], to: string) => Promise<readonly JsonObject[]>;

/** Returns the ConversionReview for objects, none of which is in the desired version. */
export const conversionReview = (request: {
  readonly apiVersion: string;
  readonly uid: string;
  readonly to: string;
  readonly objects: readonly JsonObject[];
}): JsonObject => ({
  kind: 'ConversionReview',
  apiVersion: request.apiVersion,
  request: { uid: request.uid, desiredAPIVersion: request.to, objects: request.objects },
  response: { uid: '', convertedObjects: null, result: { metadata: {} } },
});

/** Schema of an answer; the objects themselves are checked one by one. */
const answerForm = struct('v1.ConversionReview', {
  request: field(
    1,
    struct('v1.ConversionRequest', {
      uid: field(1, string({ go: 'types.UID' })),
      desiredAPIVersion: field(2, string()),
      objects: field(3, list(anyJson())),
    }),
  ),
  response: field(
    2,
    struct('v1.ConversionResponse', {
      uid: field(1, string({ go: 'types.UID' })),
      convertedObjects: field(2, list(anyJson())),
      result: field(3, statusSchema),
    }),
  ),
});

/** Why an answer is invalid, as kube-apiserver's metrics name it. */
export type ConversionFailure = `conversion_webhook_${
  | 'call'
  | 'malformed_response'
  | 'partial_response'
  | 'invalid_converted_object'}_failure`;

/** Thrown for an invalid answer. The message follows `conversion for <version>, Kind=<kind> `. */
export class InvalidConversion extends Error {
  override readonly name = 'InvalidConversion';
  readonly failure: ConversionFailure;
  constructor(message: string, failure: ConversionFailure) {
    super(message);
    this.failure = failure;
  }
}

const failed = (
  message: string,
  failure: ConversionFailure = 'conversion_webhook_malformed_response_failure',
): InvalidConversion => new InvalidConversion(`failed: conversion webhook for /, Kind= failed: ${message}`, failure);

/** Returns the InvalidConversion for a failed call. */
export const callFailed = (message: string): InvalidConversion => failed(message, 'conversion_webhook_call_failure');

/**
 * Returns the converted objects of an answer, each with the metadata of its original, except for labels and
 * annotations.
 *
 * @throws InvalidConversion
 */
export function convertedObjects(
  review: JsonObject,
  request: {
    readonly uid: string;
    readonly version: string;
    readonly to: string;
    readonly objects: readonly JsonObject[];
    readonly group: string;
  },
): readonly JsonObject[] {
  const { version, objects } = request;
  const apiVersion = textOf(review['apiVersion']);
  const kind = textOf(review['kind']);
  const expected = `${request.group}/${version}`;
  if (version === 'v1' && (apiVersion !== expected || kind !== 'ConversionReview')) {
    throw failed(
      `expected webhook response of ${expected}, Kind=ConversionReview, got ${apiVersion || '/'}, Kind=${kind}`,
    );
  }
  checkForm(review);
  const response = member(review, 'response');
  if (!isObject(response)) throw failed('no response provided');
  if (version === 'v1' && textOf(response['uid']) !== request.uid) {
    throw failed(reviewUidMismatch(request.uid, textOf(response['uid'])));
  }
  const result = member(response, 'result');
  const status = isObject(result) ? textOf(result['status']) : '';
  if (status !== 'Success') {
    const message = isObject(result) ? textOf(result['message']) : '';
    throw failed(message || `response.result.status was '${status}', not 'Success'`);
  }
  const converted = member(response, 'convertedObjects') ?? [];
  if (!Array.isArray(converted)) throw failed('response.convertedObjects is not a list');
  if (converted.length !== objects.length) {
    throw new InvalidConversion(
      `returned ${converted.length} objects, expected ${objects.length}`,
      'conversion_webhook_partial_response_failure',
    );
  }
  return objects.map((original, at) => checked(original, converted[at] as Json, request.to, at + 1));
}

/** Throws if a member has a type that Go cannot decode, which makes the whole answer invalid. */
function checkForm(review: JsonObject): void {
  // The objects are left out: they may be anything, and large.
  const shown = (name: string, list: string): Json => {
    const part = member(review, name) ?? null;
    return isObject(part) && Array.isArray(part[list]) ? { ...part, [list]: [] } : part;
  };
  try {
    const form = { request: shown('request', 'objects'), response: shown('response', 'convertedObjects') };
    compileDecoder(answerForm)(form, { strict: new Complaints() });
  } catch (error) {
    if (error instanceof DecodeError) throw callFailed(error.message);
    throw error;
  }
}

const invalidObject = 'conversion_webhook_invalid_converted_object_failure';

function checked(original: JsonObject, converted: Json, to: string, index: number): JsonObject {
  const wrong = (message: string): InvalidConversion =>
    new InvalidConversion(`returned invalid converted object at index ${index}: ${message}`, invalidObject);
  if (!isObject(converted)) throw wrong('it is not an object');
  const compare = (member: string, expected: string, found: string): void => {
    if (expected !== found) throw wrong(`invalid ${member} (expected ${expected}, received ${found})`);
  };
  compare('groupVersion', to, textOf(converted['apiVersion']));
  compare('kind', textOf(original['kind']), textOf(converted['kind']));
  const [before, after] = [metadataOf(original), metadataOf(converted)];
  for (const [name, shown] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [a, b] = [textOf(before[name]), textOf(after[name])];
    if (a !== b) throw wrong(`must have the same ${shown}: ${a} != ${b}`);
  }
  return { ...converted, metadata: restored(converted, before, index) };
}

/** Returns the original metadata with the labels and annotations of the converted object. */
function restored(converted: JsonObject, before: JsonObject, index: number): JsonObject {
  const wrong = (message: string): InvalidConversion =>
    new InvalidConversion(`returned invalid metadata in object at index ${index}: ${message}`, invalidObject);
  const convertedMetadata = member(converted, 'metadata');
  if (convertedMetadata === undefined) throw wrong('missing metadata in converted object');
  if (!isObject(convertedMetadata))
    throw wrong(`invalid metadata of type ${goTypeName(convertedMetadata)} in converted object`);
  const { labels: _labels, annotations: _annotations, ...others } = before;
  const metadata: Record<string, Json> = others;
  for (const name of ['labels', 'annotations'] as const) {
    const map = member(convertedMetadata, name);
    if (map === undefined || map === null) continue;
    if (!isObject(map)) throw wrong(`invalid metadata.${name} of type ${goTypeName(map)} in converted object`);
    for (const [key, value] of Object.entries(map)) {
      if (typeof value === 'string') continue;
      throw wrong(`metadata.${name}[${key}] must be a string, but is ${goTypeName(value)} in converted object`);
    }
    const old = member(before, name);
    if (!same(map, isObject(old) ? old : {})) checkTexts(name, map as Readonly<Record<string, string>>, wrong);
    metadata[name] = map;
  }
  return metadata;
}

function checkTexts(
  name: 'labels' | 'annotations',
  map: Readonly<Record<string, string>>,
  wrong: (message: string) => InvalidConversion,
): void {
  const violations = runSync(
    validateMetadata(
      { apiVersion: '', kind: '', metadata: { name: 'x', [name]: map } },
      { namespaced: false, nameRule: anyName, strictFinalizers: false },
    ),
  );
  if (violations.length === 0) return;
  // kube-apiserver names the annotations in the singular here.
  const field = name === 'labels' ? 'metadata.labels' : 'metadata.annotation';
  throw wrong(aggregate(violations.map(({ body }) => `${field}: ${body}`)));
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const metadataOf = (object: JsonObject): JsonObject => {
  const metadata = member(object, 'metadata');
  return isObject(metadata) ? metadata : {};
};
