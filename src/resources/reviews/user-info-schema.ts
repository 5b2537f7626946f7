import { extraValue, field, list, map, string, structsOf } from '../../schema/builder.js';

const struct = structsOf('io.k8s.api.authentication.v1');

/** Schema of UserInfo, the user in answers about identity. */
export const userInfoSchema = struct(
  'UserInfo',
  {
    username: field(1, string(), { description: 'Name of the user, unique among all that are active.' }),
    uid: field(2, string(), { description: 'Identifies the user over time; another of the same name has another.' }),
    groups: field(3, list(string(), { listType: 'atomic' }), { description: 'Groups the user belongs to.' }),
    extra: field(4, map(extraValue()), { description: 'More that the authenticator found out.' }),
  },
  { description: 'A user as authentication established it.' },
);
