import type { CustomResourceDefinition } from '../../src/api/kinds/custom-resource-definition.js';
import { alwaysDeny } from '../../src/auth/always.js';
import type { ResourceDefinition } from '../../src/registry/resource-definition.js';
import { certificateSigningRequestDefinition } from '../../src/resources/certificatesigningrequests/definition.js';
import { clusterTrustBundleDefinition } from '../../src/resources/clustertrustbundles/definition.js';
import { customResourceDefinitions } from '../../src/resources/customresourcedefinitions/definition.js';
import { customResourcesOf } from '../../src/resources/customresources/definition.js';
import { builtinDefinitions } from '../../src/resources/index.js';
import { podCertificateRequestDefinition } from '../../src/resources/podcertificaterequests/definition.js';
import { authenticationReviews, authorizationReviews } from '../../src/resources/reviews/index.js';
import { widgetDefinition } from './world.js';

/** Returns every kind that a server under attack serves. Only their schemas and names are used. */
export const attackedKinds = (): readonly ResourceDefinition[] => [
  ...builtinDefinitions({
    authenticationReviews: authenticationReviews({
      authenticator: { authenticate: async () => undefined },
      apiAudiences: [],
    }),
    authorizationReviews: authorizationReviews({ authorizer: alwaysDeny }),
    certificates: [
      certificateSigningRequestDefinition(),
      clusterTrustBundleDefinition(),
      podCertificateRequestDefinition(),
    ].map(general),
    extensions: [general(customResourceDefinitions())],
  }),
  ...customResourcesOf(widgetDefinition as unknown as CustomResourceDefinition),
];

const general = (definition: object): ResourceDefinition => definition as ResourceDefinition;
