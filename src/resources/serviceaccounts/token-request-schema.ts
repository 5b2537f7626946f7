import { field, integer64, list, optional, string, structsOf, time } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';

const struct = structsOf('io.k8s.api.authentication.v1');

const boundObjectReference = struct(
  'BoundObjectReference',
  {
    kind: field(1, string(), { description: 'Kind of the object: Pod, Secret or Node.' }),
    apiVersion: field(2, string(), { description: 'API version of the object.' }),
    name: field(3, string(), { description: 'Name of the object.' }),
    uid: field(4, string({ go: 'types.UID' }), { description: 'UID that the object must have.' }),
  },
  { description: 'Object that a token is bound to.' },
);

export const tokenRequestSchema = struct(
  'TokenRequest',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Name and namespace of the service account.' }),
    spec: field(
      2,
      struct(
        'TokenRequestSpec',
        {
          audiences: field(1, list(string(), { listType: 'atomic' }), {
            presence: 'always',
            description:
              'Intended audiences of the token; by default the API server. Each of them can impersonate the caller to the others.',
          }),
          expirationSeconds: optional(4, integer64(), {
            presence: 'null',
            fills: 3_600,
            description: 'Requested lifetime of the token in seconds; the issued token may have another.',
          }),
          boundObjectRef: optional(3, boundObjectReference, {
            presence: 'null',
            description: 'Object that the token is bound to: the token is valid only while the object exists.',
          }),
        },
        { description: 'Requested properties of the token.' },
      ),
      { description: 'Requested properties of the token.' },
    ),
    status: field(
      3,
      struct(
        'TokenRequestStatus',
        {
          token: field(1, string(), { presence: 'always', description: 'Issued token.' }),
          expirationTimestamp: field(2, time(), {
            presence: 'always',
            description: 'Time at which the token expires.',
          }),
        },
        { description: 'Issued token.' },
      ),
      { description: 'Issued token; set by the server.' },
    ),
  },
  { description: 'Requests a token of a service account.' },
);
