import { extraValue, field, list, map, string, structsOf } from '../../schema/builder.js';

const struct = structsOf('io.k8s.api.authentication.v1');

/** The schema of UserInfo, the user in responses about identity. */
export const userInfoSchema = struct(
  'UserInfo',
  {
    username: field(1, string(), { description: 'Name of the user, unique among all active users.' }),
    uid: field(2, string(), {
      description: 'Unique ID of the user over time: a later user of the same name has a different one.',
    }),
    groups: field(3, list(string(), { listType: 'atomic' }), {
      description: 'Names of the groups that the user belongs to.',
    }),
    extra: field(4, map(extraValue()), { description: 'Additional attributes from the authenticator.' }),
  },
  { description: 'Attributes of an authenticated user.' },
);
