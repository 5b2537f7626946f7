import type { Domains } from '../../api/domains.js';

/** Returns the API groups that the bootstrap roles name. */
export const apiGroups = ({ api }: Domains) =>
  ({
    core: '',
    apps: 'apps',
    autoscaling: 'autoscaling',
    batch: 'batch',
    extensions: 'extensions',
    policy: 'policy',
    admissionregistration: `admissionregistration.${api}`,
    apiextensions: `apiextensions.${api}`,
    authentication: `authentication.${api}`,
    authorization: `authorization.${api}`,
    certificates: `certificates.${api}`,
    coordination: `coordination.${api}`,
    discovery: `discovery.${api}`,
    events: `events.${api}`,
    networking: `networking.${api}`,
    node: `node.${api}`,
    rbac: `rbac.authorization.${api}`,
    resource: `resource.${api}`,
    storage: `storage.${api}`,
  }) as const;
