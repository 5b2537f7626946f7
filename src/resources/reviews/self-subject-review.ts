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
    metadata: field(1, objectMeta, { description: 'When the question was answered.' }),
    status: field(
      2,
      struct(
        'SelfSubjectReviewStatus',
        { userInfo: field(1, userInfoSchema, { description: 'The caller.' }) },
        { description: 'Who the caller is.' },
      ),
      { description: 'Filled by the server.' },
    ),
  },
  { description: 'Asks who the caller is, once impersonation has been applied.' },
);

/** Answers callers who they are, whatever they send. */
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
