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
    'the future',
    answered(status.OUT_OF_RANGE, 'is a future one'),
    'RevisionOutOfRange',
    'the revision is in the future',
  ],
  [
    'a token that counts no more',
    answered(status.UNAUTHENTICATED, 'etcdserver: invalid auth token'),
    'Unauthenticated',
    'etcd at e:1 requires a user (etcd.user): etcdserver: invalid auth token',
  ],
  ['a missing right', answered(status.PERMISSION_DENIED, 'no'), 'Error', 'etcd at e:1 does not allow it: no'],
  ['a full disk', answered(status.RESOURCE_EXHAUSTED, 'database space exceeded'), 'Error', 'database space exceeded'],
  [
    'silence',
    answered(status.UNAVAILABLE, 'no connection. Resolution note: '),
    'StoreUnavailable',
    'etcd at e:1 does not answer over TLS: no connection',
  ],
])('of %s is told what it means', (_, error, name, message) => {
  expect(failureOf('e:1', ' over TLS')(error)).toMatchObject({ name, message });
});

test.each<[string, ServiceError | null, boolean]>([
  ['a stream that ended', null, true],
  ['silence', answered(status.UNAVAILABLE, ''), true],
  ['an answer that is late', answered(status.DEADLINE_EXCEEDED, ''), true],
  ['a refusal', answered(status.PERMISSION_DENIED, ''), false],
])('%s tells whether the member has failed', (_, error, has) => {
  expect(isTransport(error)).toBe(has);
});
