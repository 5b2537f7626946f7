import { field, integer32, list, optional, string, structsOf } from '../schema/builder.js';
import { listMeta, typeMeta } from '../schema/meta.js';

const struct = structsOf('io.k8s.apimachinery.pkg.apis.meta.v1');

const statusCause = struct(
  'StatusCause',
  {
    reason: field(1, string({ go: 'v1.CauseType' }), {
      description: 'Reason for the cause, as one word in CamelCase.',
    }),
    message: field(2, string(), { description: 'Human-readable details.' }),
    field: field(3, string(), {
      description: 'Path of the field that caused the error, such as spec.containers[0].image.',
    }),
  },
  { description: 'Single cause of an error.' },
);

const statusDetails = struct(
  'StatusDetails',
  {
    name: field(1, string(), { description: 'Name of the object that the error is about.' }),
    group: field(2, string(), { description: 'API group of the resource that the error is about.' }),
    kind: field(3, string(), { description: 'Resource, or for invalid objects the kind, that the error is about.' }),
    uid: field(6, string({ go: 'types.UID' }), { description: 'UID of the object.' }),
    causes: field(4, list(statusCause, { listType: 'atomic' }), {
      description: 'Causes of the error, such as all fields that are invalid.',
    }),
    retryAfterSeconds: field(5, integer32(), { description: 'Seconds after which the request should be retried.' }),
  },
  { description: 'Additional information about an error.' },
);

/** meta/v1 Status: the response to every failure and some successes. */
export const statusSchema = struct(
  'Status',
  {
    ...typeMeta,
    metadata: field(1, listMeta, {
      description: 'Standard list metadata; for an expired list, with a token to continue with.',
    }),
    status: field(2, string(), { description: 'Status of the operation: Success or Failure.' }),
    message: field(3, string(), { description: 'Human-readable description of the result.' }),
    reason: field(4, string({ go: 'v1.StatusReason' }), {
      description: 'Reason for the failure, as one word in CamelCase.',
    }),
    details: optional(5, statusDetails, { description: 'Additional information for the reason of the failure.' }),
    code: field(6, integer32(), { description: 'HTTP status code of the response.' }),
  },
  { description: 'Result of a request that returns no other object.' },
);
