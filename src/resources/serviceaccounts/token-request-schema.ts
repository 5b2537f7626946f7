import { field, integer64, list, optional, string, structsOf, time } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';

const struct = structsOf('io.k8s.api.authentication.v1');

const boundObjectReference = struct(
  'BoundObjectReference',
  {
    kind: field(1, string(), { description: 'Pod, Secret or Node.' }),
    apiVersion: field(2, string(), { description: 'API version of the object.' }),
    name: field(3, string(), { description: 'Name of the object.' }),
    uid: field(4, string({ go: 'types.UID' }), { description: 'UID the object must have.' }),
  },
  { description: 'The object a token lives and dies with.' },
);

export const tokenRequestSchema = struct(
  'TokenRequest',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names the account.' }),
    spec: field(
      2,
      struct(
        'TokenRequestSpec',
        {
          audiences: field(1, list(string(), { listType: 'atomic' }), {
            presence: 'always',
            description:
              'Whom the token is for; none: the API server. Each of them can pass for the caller to the others.',
          }),
          expirationSeconds: optional(4, integer64(), {
            presence: 'null',
            fills: 3_600,
            description: 'Lifetime asked for; the answer tells the real one.',
          }),
          boundObjectRef: optional(3, boundObjectReference, {
            presence: 'null',
            description: 'Object without which the token is no longer valid.',
          }),
        },
        { description: 'The token asked for.' },
      ),
      { description: 'The token asked for.' },
    ),
    status: field(
      3,
      struct(
        'TokenRequestStatus',
        {
          token: field(1, string(), { presence: 'always', description: 'The token.' }),
          expirationTimestamp: field(2, time(), { presence: 'always', description: 'When it expires.' }),
        },
        { description: 'The token issued.' },
      ),
      { description: 'Filled by the server.' },
    ),
  },
  { description: 'Asks for a token of a service account.' },
);
