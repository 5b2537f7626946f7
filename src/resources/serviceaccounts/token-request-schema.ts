import { field, integer64, list, optional, string, struct, time } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';

const component = (name: string): { readonly component: string } => ({
  component: `io.k8s.api.authentication.v1.${name}`,
});

const boundObjectReference = struct(
  'v1.BoundObjectReference',
  {
    kind: field(1, string(), { description: 'Pod, Secret or Node.' }),
    apiVersion: field(2, string(), { description: 'API version of the object.' }),
    name: field(3, string(), { description: 'Name of the object.' }),
    uid: field(4, string({ go: 'types.UID' }), { description: 'UID the object must have.' }),
  },
  { description: 'The object a token lives and dies with.', ...component('BoundObjectReference') },
);

export const tokenRequestSchema = struct(
  'v1.TokenRequest',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names the account.' }),
    spec: field(
      2,
      struct(
        'v1.TokenRequestSpec',
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
        { description: 'The token asked for.', ...component('TokenRequestSpec') },
      ),
      { description: 'The token asked for.' },
    ),
    status: field(
      3,
      struct(
        'v1.TokenRequestStatus',
        {
          token: field(1, string(), { presence: 'always', description: 'The token.' }),
          expirationTimestamp: field(2, time(), { presence: 'always', description: 'When it expires.' }),
        },
        { description: 'The token issued.', ...component('TokenRequestStatus') },
      ),
      { description: 'Filled by the server.' },
    ),
  },
  { description: 'Asks for a token of a service account.', ...component('TokenRequest') },
);
