import type { Domains } from '../../api/domains.js';
import type { PolicyRule } from '../../api/kinds/role.js';
import { type WellKnownSigner, wellKnownSigners } from '../../api/well-known-signers.js';
import { apiGroups } from './api-groups.js';
import { paths, rule } from './policy-rule.js';

/** The properties of a bootstrap ClusterRole besides its name. */
export interface ClusterRoleFacts {
  readonly rules: readonly PolicyRule[] | null;
  /** The role has the rules of all roles that are labelled `aggregate-to-<this>`. */
  readonly aggregates?: AggregationTarget;
  /** The role adds its rules to that role. */
  readonly aggregatedTo?: AggregationTarget;
}
type AggregationTarget = 'admin' | 'edit' | 'view';

/** Returns the ClusterRoles that every cluster has, for users and for components of the system. */
export function clusterRoles(domains: Domains): ReadonlyMap<string, ClusterRoleFacts> {
  const signers = wellKnownSigners(domains);
  const g = apiGroups(domains);
  const events = rule('create patch update', [g.core, g.events], 'events');
  const reviews = [
    rule('create', g.authentication, 'tokenreviews'),
    rule('create', g.authorization, 'subjectaccessreviews'),
  ];
  const only = (...rules: readonly PolicyRule[]): ClusterRoleFacts => ({ rules });
  const approver = (signer: WellKnownSigner): [string, ClusterRoleFacts] => [
    `system:certificates.${domains.api}:${signers[signer][0].slice(domains.signer.length + 1)}-approver`,
    only(rule('approve', g.certificates, 'signers', signers[signer])),
  ];
  const ownCertificate = (kind: string): [string, ClusterRoleFacts] => [
    `system:certificates.${domains.api}:certificatesigningrequests:${kind}`,
    only(rule('create', g.certificates, `certificatesigningrequests/${kind}`)),
  ];

  return new Map<string, ClusterRoleFacts>([
    ['cluster-admin', only(rule('*', '*', '*'), paths('*', '*'))],
    ['admin', { rules: null, aggregates: 'admin' }],
    ['edit', { rules: null, aggregates: 'edit', aggregatedTo: 'admin' }],
    ['view', { rules: null, aggregates: 'view', aggregatedTo: 'edit' }],
    ['system:aggregate-to-admin', { aggregatedTo: 'admin', rules: adminRules(domains) }],
    ['system:aggregate-to-edit', { aggregatedTo: 'edit', rules: editRules(domains) }],
    ['system:aggregate-to-view', { aggregatedTo: 'view', rules: viewRules(domains) }],
    ['system:auth-delegator', only(...reviews)],
    [
      'system:basic-user',
      only(
        rule('create', g.authorization, 'selfsubjectaccessreviews selfsubjectrulesreviews'),
        rule('create', g.authentication, 'selfsubjectreviews'),
      ),
    ],
    [
      'system:discovery',
      only(paths('get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/')),
    ],
    ['system:public-info-viewer', only(paths('get', '/healthz /livez /readyz /version /version/'))],
    [
      'system:monitoring',
      only(
        paths('get', '/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz'),
        rule('get', g.core, 'nodes/metrics'),
      ),
    ],
    [
      'system:service-account-issuer-discovery',
      only(
        paths(
          'get',
          '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
        ),
      ),
    ],
    ['system:cluster-trust-bundle-discovery', only(rule('R', g.certificates, 'clustertrustbundles'))],
    approver('client'),
    approver('node-client'),
    approver('node-serving'),
    approver('legacy-unknown'),
    ownCertificate('nodeclient'),
    ownCertificate('selfnodeclient'),
    ['system:node-bootstrapper', only(rule('create get list watch', g.certificates, 'certificatesigningrequests'))],
    ['system:node', only(...nodeRules(domains))],
    ['system:node-problem-detector', only(rule('get', g.core, 'nodes'), rule('patch', g.core, 'nodes/status'), events)],
    [
      'system:node-proxier',
      only(
        rule('list watch', g.core, 'endpoints services'),
        rule('R', g.core, 'nodes'),
        events,
        rule('list watch', g.networking, 'servicecidrs'),
        rule('list watch', g.discovery, 'endpointslices'),
      ),
    ],
    [
      'system:heapster',
      only(rule('R', g.core, 'events namespaces nodes pods'), rule('R', g.extensions, 'deployments')),
    ],
    ['system:kube-aggregator', only(rule('R', g.core, 'endpoints services'))],
    [
      'system:kube-controller-manager',
      only(
        events,
        rule('create', g.coordination, 'leases'),
        rule('get update', g.coordination, 'leases', ['kube-controller-manager']),
        rule('create', g.core, 'secrets serviceaccounts'),
        rule('delete', g.core, 'secrets'),
        rule('get', g.core, 'configmaps namespaces secrets serviceaccounts'),
        rule('update', g.core, 'secrets serviceaccounts'),
        ...reviews,
        rule('list watch', '*', '*'),
        rule('create', g.core, 'serviceaccounts/token'),
      ),
    ],
    ['system:kube-dns', only(rule('list watch', g.core, 'endpoints services'))],
    ['system:kube-scheduler', only(events, ...schedulerRules(domains))],
    [
      'system:kubelet-api-admin',
      only(
        rule('R', g.core, 'nodes'),
        rule('proxy', g.core, 'nodes'),
        rule('*', g.core, 'nodes/log nodes/metrics nodes/proxy nodes/stats'),
        rule('*', g.core, 'nodes/configz nodes/healthz nodes/pods'),
      ),
    ],
    [
      'system:persistent-volume-provisioner',
      only(
        rule('create delete get list watch', g.core, 'persistentvolumes'),
        rule('get list update watch', g.core, 'persistentvolumeclaims'),
        rule('R', g.storage, 'storageclasses'),
        rule('watch', g.core, 'events'),
        events,
      ),
    ],
    [
      'system:volume-scheduler',
      only(
        rule('get list patch update watch', g.core, 'persistentvolumes'),
        rule('R', g.storage, 'storageclasses'),
        rule('get list patch update watch', g.core, 'persistentvolumeclaims'),
      ),
    ],
  ]);
}

function adminRules(domains: Domains): readonly PolicyRule[] {
  const g = apiGroups(domains);
  return [rule('create', g.authorization, 'localsubjectaccessreviews'), rule('RW', g.rbac, 'rolebindings roles')];
}

const connections = 'pods/attach pods/exec pods/portforward pods/proxy';

function editRules(domains: Domains): readonly PolicyRule[] {
  const g = apiGroups(domains);
  return [
    rule('R', g.core, `${connections} secrets services/proxy`),
    rule('impersonate', g.core, 'serviceaccounts'),
    rule('W', g.core, `pods ${connections}`),
    rule('create', g.core, 'pods/eviction'),
    rule(
      'W',
      g.core,
      'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    ),
    rule('create', g.core, 'serviceaccounts/token'),
    rule('W', [g.core, g.events], 'events'),
    rule(
      'W',
      g.apps,
      'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
    ),
    rule('W', g.autoscaling, 'horizontalpodautoscalers'),
    rule('W', g.batch, 'cronjobs jobs'),
    rule(
      'W',
      g.extensions,
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
    ),
    rule('W', g.policy, 'poddisruptionbudgets'),
    rule('W', g.networking, 'ingresses networkpolicies'),
    rule('RW', g.coordination, 'leases'),
    rule('W', g.resource, 'resourceclaims resourceclaimtemplates'),
  ];
}

function viewRules(domains: Domains): readonly PolicyRule[] {
  const g = apiGroups(domains);
  const workloads =
    'daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status';
  return [
    rule(
      'R',
      g.core,
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
    ),
    rule(
      'R',
      g.core,
      'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
    ),
    rule('R', g.core, 'namespaces'),
    rule('R', [g.core, g.events], 'events'),
    rule('R', g.discovery, 'endpointslices'),
    rule('R', g.apps, `controllerrevisions ${workloads} statefulsets statefulsets/scale statefulsets/status`),
    rule('R', g.autoscaling, 'horizontalpodautoscalers horizontalpodautoscalers/status'),
    rule('R', g.batch, 'cronjobs cronjobs/status jobs jobs/status'),
    rule('R', g.extensions, `${workloads} ingresses ingresses/status networkpolicies replicationcontrollers/scale`),
    rule('R', g.policy, 'poddisruptionbudgets poddisruptionbudgets/status'),
    rule('R', g.networking, 'ingresses ingresses/status networkpolicies'),
    rule('R', g.resource, 'resourceclaims resourceclaims/status resourceclaimtemplates'),
  ];
}

/** Returns the rules for all node agents; the node authorizer restricts some of them to objects related to the node. */
export function nodeRules(domains: Domains): readonly PolicyRule[] {
  const g = apiGroups(domains);
  return [
    rule('create', g.authentication, 'tokenreviews'),
    rule('create', g.authorization, 'localsubjectaccessreviews subjectaccessreviews'),
    rule('R', g.core, 'services'),
    rule('create get list watch', g.core, 'nodes'),
    rule('patch update', g.core, 'nodes/status'),
    rule('patch update', g.core, 'nodes'),
    rule('create patch update', [g.core, g.events], 'events'),
    rule('R', g.core, 'pods'),
    rule('create delete', g.core, 'pods'),
    rule('patch update', g.core, 'pods/status'),
    rule('create', g.core, 'pods/eviction'),
    rule('R', g.core, 'configmaps secrets'),
    rule('get', g.core, 'persistentvolumeclaims persistentvolumes'),
    rule('get', g.core, 'endpoints'),
    rule('create get list watch', g.certificates, 'certificatesigningrequests'),
    rule('create delete get patch update', g.coordination, 'leases'),
    rule('get', g.storage, 'volumeattachments'),
    rule('create', g.core, 'serviceaccounts/token'),
    rule('get patch update', g.core, 'persistentvolumeclaims/status'),
    rule('R', g.storage, 'csidrivers'),
    rule('create delete get patch update', g.storage, 'csinodes'),
    rule('R', g.node, 'runtimeclasses'),
    rule('get', g.resource, 'resourceclaims'),
    rule('deletecollection', g.resource, 'resourceslices'),
    rule('R', g.certificates, 'clustertrustbundles'),
    rule('get', g.core, 'serviceaccounts'),
    rule('create get list watch', g.certificates, 'podcertificaterequests'),
  ];
}

function schedulerRules(domains: Domains): readonly PolicyRule[] {
  const g = apiGroups(domains);
  return [
    rule('create', g.coordination, 'leases'),
    rule('get list update watch', g.coordination, 'leases', ['kube-scheduler']),
    rule('RW', g.coordination, 'leasecandidates'),
    rule('R', g.core, 'nodes'),
    rule('delete get list watch', g.core, 'pods'),
    rule('create', g.core, 'bindings pods/binding'),
    rule('patch update', g.core, 'pods/status'),
    rule('R', g.core, 'replicationcontrollers services'),
    rule('R', [g.apps, g.extensions], 'replicasets'),
    rule('R', g.apps, 'statefulsets'),
    rule('R', g.policy, 'poddisruptionbudgets'),
    rule('R', g.core, 'persistentvolumeclaims persistentvolumes'),
    rule('create', g.authentication, 'tokenreviews'),
    rule('create', g.authorization, 'subjectaccessreviews'),
    rule('R', g.storage, 'csinodes'),
    rule('R', g.storage, 'volumeattachments'),
    rule('R', g.core, 'namespaces'),
    rule('R', g.storage, 'csidrivers'),
    rule('R', g.storage, 'csistoragecapacities'),
    rule('R', g.resource, 'deviceclasses'),
    rule('get list patch update watch', g.resource, 'resourceclaims'),
    rule('get list patch update watch', g.resource, 'resourceclaims/status'),
    rule('update', g.core, 'pods/finalizers'),
    rule('R', g.resource, 'resourceslices'),
    rule('create delete', g.resource, 'resourceclaims'),
    rule('patch update', g.resource, 'resourceclaims/binding'),
  ];
}
