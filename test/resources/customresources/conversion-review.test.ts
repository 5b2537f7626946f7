import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object.js';
import { conversionReview, convertedObjects } from '../../../src/resources/customresources/conversion-review.js';

const original = {
  apiVersion: 'g/v1',
  kind: 'K',
  metadata: { name: 'a', namespace: 'n', uid: 'u', generation: 3, labels: { old: 'x' }, annotations: { a: 'b' } },
  spec: { host: 'h' },
};
const asked = { uid: 'q', group: 'apiextensions.k8s.io', version: 'v1', to: 'g/v2', objects: [original] };
const good = { ...original, apiVersion: 'g/v2', spec: { hostPort: 'h:1' } };
const review = (response: object | undefined, more: object = {}): JsonObject =>
  ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response, ...more }) as unknown as JsonObject;
const success = (...objects: unknown[]) => ({ uid: 'q', result: { status: 'Success' }, convertedObjects: objects });

test('the conversion request', () => {
  expect(
    conversionReview({ apiVersion: 'apiextensions.k8s.io/v1', uid: 'q', to: 'g/v2', objects: [original] }),
  ).toEqual({
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { uid: 'q', desiredAPIVersion: 'g/v2', objects: [original] },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  });
});

test('only labels and annotations of the converted metadata are used', () => {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', generation: 9, labels: { new: 'y' }, finalizers: ['x'] };
  expect(convertedObjects(review(success({ ...good, metadata })), asked)).toEqual([
    { ...good, metadata: { name: 'a', namespace: 'n', uid: 'u', generation: 3, labels: { new: 'y' } } },
  ]);
});

describe('an invalid conversion response', () => {
  const failed = 'failed: conversion webhook for /, Kind= failed: ';
  const invalid = 'returned invalid converted object at index 1: ';
  const metadata = 'returned invalid metadata in object at index 1: ';
  const withMeta = (meta: object) => ({ ...good, metadata: { name: 'a', namespace: 'n', uid: 'u', ...meta } });
  test.each<[string, JsonObject, string]>([
    ['no response', review(undefined), `${failed}no response provided`],
    ['another uid', review({ ...success(good), uid: 'x' }), `${failed}expected response.uid="q", got "x"`],
    ...(
      [
        [
          { ...success(good), result: { status: 'Success', code: 'x' } },
          'string',
          'Status.response.result.code',
          'int32',
        ],
        [
          { ...success(good), result: { status: 'Success', message: 1 } },
          'number',
          'Status.response.result.message',
          'string',
        ],
        [{ ...success(good), result: 1 }, 'number', 'ConversionResponse.response.result', 'v1.Status'],
        [{ ...success(good), uid: 1 }, 'number', 'ConversionResponse.response.uid', 'types.UID'],
        [[], 'array', 'ConversionReview.response', 'v1.ConversionResponse'],
      ] as const
    ).map(([given, what, where, type]): [string, JsonObject, string] => [
      `${what} as ${where}`,
      review(given),
      `${failed}json: cannot unmarshal ${what} into Go struct field ${where} of type ${type}`,
    ]),
    ['no status', review({ ...success(good), result: {} }), `${failed}response.result.status was '', not 'Success'`],
    ['a failure', review({ ...success(good), result: { status: 'Failure', message: 'no way' } }), `${failed}no way`],
    [
      'no kind',
      review(success(good), { apiVersion: undefined, kind: undefined }),
      `${failed}expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=`,
    ],
    ['too few', review(success()), 'returned 0 objects, expected 1'],
    ['too many', review(success(good, good)), 'returned 2 objects, expected 1'],
    ['no list of objects', review({ uid: 'q', result: { status: 'Success' } }), 'returned 0 objects, expected 1'],
    [
      'another version',
      review(success({ ...good, apiVersion: 'g/v9' })),
      `${invalid}invalid groupVersion (expected g/v2, received g/v9)`,
    ],
    ['another kind', review(success({ ...good, kind: 'X' })), `${invalid}invalid kind (expected K, received X)`],
    ['another name', review(success(withMeta({ name: 'b' }))), `${invalid}must have the same name: a != b`],
    [
      'another namespace',
      review(success(withMeta({ namespace: 'm' }))),
      `${invalid}must have the same namespace: n != m`,
    ],
    ['another uid of the object', review(success(withMeta({ uid: 'w' }))), `${invalid}must have the same UID: u != w`],
    ['no metadata', review(success({ ...good, metadata: undefined })), `${invalid}must have the same name: a != `],
    ['a string', review(success('x')), `${invalid}it is not an object`],
    [
      'a label that is not a string',
      review(success(withMeta({ labels: { k: 5 } }))),
      `${metadata}metadata.labels[k] must be a string, but is int64 in converted object`,
    ],
    [
      'annotations that are not a map',
      review(success(withMeta({ annotations: [] }))),
      `${metadata}invalid metadata.annotations of type []interface {} in converted object`,
    ],
    [
      'an invalid label value',
      review(success(withMeta({ labels: { k: 'a b' } }))),
      `${metadata}metadata.labels: Invalid value: "a b"`,
    ],
    [
      'an invalid annotation',
      review(success(withMeta({ annotations: { 'a b': 'c' } }))),
      `${metadata}metadata.annotation: Invalid value: "a b"`,
    ],
  ])('%s', (_, given, why) => {
    expect(() => convertedObjects(given, asked)).toThrow(why);
  });

  test('of v1beta1 needs neither its kind nor the uid', () => {
    const beta = { ...asked, version: 'v1beta1' };
    expect(convertedObjects(review({ ...success(good), uid: 'x' }, { kind: undefined }), beta)).toHaveLength(1);
    expect(() => convertedObjects(review(undefined), beta)).toThrow('no response provided');
  });
});

test('invalid labels may stay if they were there before', () => {
  const labels = { k: 'a b' };
  const before = { ...original, metadata: { ...original.metadata, labels } };
  const after = { ...good, metadata: { ...good.metadata, labels } };
  expect(convertedObjects(review(success(after)), { ...asked, objects: [before] })[0]?.['metadata']).toMatchObject({
    labels,
  });
});
