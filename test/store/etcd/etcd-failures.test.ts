import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { failureOf, isTransport } from '../../../src/store/etcd/etcd-failures.js';

const answered = (code: status, details: string): ServiceError =>
  Object.assign(new Error(details), { code, details, metadata: new Metadata() });

test.each<[string, ServiceError | null, string, string]>([
  ['a stream that ended', null, 'StoreUnavailable', 'etcd at e:1 ended the answer early'],
  [
    'compaction',
    answered(status.OUT_OF_RANGE, 'has been compacted'),
    'RevisionOutOfRange',
    'the revision is compacted',
  ],
  [
    'a future revision',
    answered(status.OUT_OF_RANGE, 'is a future one'),
    'RevisionOutOfRange',
    'the revision is in the future',
  ],
  [
    'an expired token',
    answered(status.UNAUTHENTICATED, 'etcdserver: invalid auth token'),
    'Unauthenticated',
    'etcd at e:1 requires a user (etcd.user): etcdserver: invalid auth token',
  ],
  ['a missing permission', answered(status.PERMISSION_DENIED, 'no'), 'Error', 'etcd at e:1 does not allow it: no'],
  ['a full disk', answered(status.RESOURCE_EXHAUSTED, 'database space exceeded'), 'Error', 'database space exceeded'],
  [
    'no answer',
    answered(status.UNAVAILABLE, 'no connection. Resolution note: '),
    'StoreUnavailable',
    'etcd at e:1 does not answer over TLS: no connection',
  ],
])('%s is translated to a meaningful error', (_, error, name, message) => {
  expect(failureOf('e:1', ' over TLS')(error)).toMatchObject({ name, message });
});

test.each<[string, ServiceError | null, boolean]>([
  ['a stream that ended', null, true],
  ['no answer', answered(status.UNAVAILABLE, ''), true],
  ['a late answer', answered(status.DEADLINE_EXCEEDED, ''), true],
  ['a permission error', answered(status.PERMISSION_DENIED, ''), false],
])('%s counts as a failure of the member or not', (_, error, has) => {
  expect(isTransport(error)).toBe(has);
});
