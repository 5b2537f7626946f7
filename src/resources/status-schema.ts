import { field, integer32, list, optional, string, structsOf } from '../schema/builder.js';
import { listMeta, typeMeta } from '../schema/meta.js';

const struct = structsOf('io.k8s.apimachinery.pkg.apis.meta.v1');

const statusCause = struct(
  'StatusCause',
  {
    reason: field(1, string({ go: 'v1.CauseType' }), { description: 'One CamelCase word saying why.' }),
    message: field(2, string(), { description: 'Details for people.' }),
    field: field(3, string(), { description: 'Path of the field at fault.' }),
  },
  { description: 'One of the reasons of a failure.' },
);

const statusDetails = struct(
  'StatusDetails',
  {
    name: field(1, string(), { description: 'Name of the object at fault.' }),
    group: field(2, string(), { description: 'Group of the resource.' }),
    kind: field(3, string(), { description: 'Resource, or kind where the object is invalid.' }),
    uid: field(6, string({ go: 'types.UID' }), { description: 'UID of the object.' }),
    causes: field(4, list(statusCause, { listType: 'atomic' }), { description: 'What is wrong, one by one.' }),
    retryAfterSeconds: field(5, integer32(), { description: 'When to try again.' }),
  },
  { description: 'What a failure is about.' },
);

/** meta/v1 Status: the answer to every failure and some successes. */
export const statusSchema = struct(
  'Status',
  {
    ...typeMeta,
    metadata: field(1, listMeta, { description: 'Version, and the token of an expired list.' }),
    status: field(2, string(), { description: 'Success or Failure.' }),
    message: field(3, string(), { description: 'Details for people.' }),
    reason: field(4, string({ go: 'v1.StatusReason' }), { description: 'One CamelCase word saying why.' }),
    details: optional(5, statusDetails, { description: 'What it is about.' }),
    code: field(6, integer32(), { description: 'The HTTP status code.' }),
  },
  { description: 'Outcome of a request that has no other answer.' },
);
