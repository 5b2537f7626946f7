import { type SelfSubjectReview, SelfSubjectReviews } from '../../api/kinds/self-subject-review.js';
import { timestamp } from '../../api/time.js';
import { defineResource } from '../../registry/resource-definition.js';
import { field, structsOf } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { userInfoSchema } from './user-info-schema.js';

const struct = structsOf('io.k8s.api.authentication.v1');

const schema = struct(
  'SelfSubjectReview',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, {
      description: 'Object metadata; the creation timestamp is the time of the review.',
    }),
    status: field(
      2,
      struct(
        'SelfSubjectReviewStatus',
        { userInfo: field(1, userInfoSchema, { description: 'User attributes of the caller.' }) },
        { description: 'Identity of the caller.' },
      ),
      { description: 'Result; set by the server.' },
    ),
  },
  { description: 'Returns the identity of the caller, after impersonation.' },
);

/** Returns the identity of the caller, whatever the request contains. */
export const selfSubjectReviews = defineResource<SelfSubjectReview>({
  ...SelfSubjectReviews,
  origin: 'built-in',
  schema,
  verbs: ['create'],

  answer: async ({ apiVersion, kind }, { user, now }) => ({
    kind,
    apiVersion,
    metadata: { creationTimestamp: timestamp(now) },
    status: { userInfo: user },
  }),
});
