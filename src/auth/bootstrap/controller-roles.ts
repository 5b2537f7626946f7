import type { Domains } from '../../api/domains.js';
import { kedgeNames } from '../../api/kedge-names.js';
import { CertificateLedgerEntries } from '../../api/kinds/certificate-ledger-entry.js';
import type { PolicyRule } from '../../api/kinds/role.js';
import { legacyTokenTracking } from '../../api/kinds/secret.js';
import { serviceAccountUser, type UserInfo } from '../../api/user.js';
import { wellKnownSigners } from '../../api/well-known-signers.js';
import { apiGroups } from './api-groups.js';
import { rule } from './policy-rule.js';

/**
 * The built-in controllers, each with its service account in kube-system. If Kubernetes has the controller, the account
 * has the same name as there.
 */
export const controllerAccounts = {
  'csr-approver': 'csr-approver',
  'csr-policy-approver': 'csr-policy-approver',
  'csr-signer': 'csr-signer',
  'csr-cleaner': 'csr-cleaner',
  'pod-certificate-signer': 'pod-certificate-signer',
  'pod-certificate-cleaner': 'podcertificaterequestcleaner',
  'crd-names': 'crd-names',
  'crd-established': 'crd-established',
  'crd-finalizer': 'crd-finalizer',
  'ca-rotation': 'ca-rotation',
  'trust-bundle-publisher': 'trust-bundle-publisher',
  'trust-distributor': 'trust-distributor',
  'root-ca-publisher': 'root-ca-cert-publisher',
  'service-account': 'service-account-controller',
  'service-account-token': 'service-account-token-controller',
  'legacy-token-cleaner': 'legacy-service-account-token-cleaner',
  namespace: 'namespace-controller',
  'garbage-collector': 'generic-garbage-collector',
  'clusterrole-aggregation': 'clusterrole-aggregation-controller',
  'policy-status': 'validatingadmissionpolicy-status-controller',
} as const;
export type BuiltinController = keyof typeof controllerAccounts;

/** The namespace of the service accounts of controllers. */
export const controllerNamespace = 'kube-system';

/** Returns the user that a built-in controller acts as through a client inside the server. */
export const controllerUser = (controller: BuiltinController): UserInfo =>
  serviceAccountUser(controllerNamespace, controllerAccounts[controller]);

/** The signers in addition to the well-known ones, and other options that the rights of the controllers depend on. */
export interface SignerOptions {
  readonly signers?: readonly string[];
  /** Those of the signers that issue certificates to pods. */
  readonly podSigners?: readonly string[];
  /** The signer names, or `domain/*`, for which the certificate policy approves and denies requests. */
  readonly approves?: readonly string[];
  /** Whether bundles of anchors are distributed to ConfigMaps, and whether to Secrets as well. */
  readonly distributes?: 'no' | 'config-maps' | 'secrets-too';
  /** The objects that only some controllers read or write. */
  readonly objects?: readonly ControllerObjects[];
}

/** Objects of one kind in one namespace, by name, and what a controller does with them. */
export interface ControllerObjects {
  readonly controller: BuiltinController;
  readonly namespace: string;
  readonly resource: 'configmaps' | 'secrets';
  readonly names: readonly string[];
  /** Whether the controller creates and updates the objects; otherwise it only reads them. */
  readonly keeps?: boolean;
}

/** Returns the rules for each service account: what its controller needs, and nothing else. */
export function controllerRoles(
  domains: Domains,
  { signers: own = [], podSigners = [], approves = [], distributes = 'no' }: SignerOptions,
): ReadonlyMap<string, readonly PolicyRule[]> {
  const g = apiGroups(domains);
  const signers = wellKnownSigners(domains);
  const wellKnownNames = Object.values(signers).flat();
  const events = rule('create patch update', [g.core, g.events], 'events');
  const requests = (verbs: string): PolicyRule => rule(verbs, g.certificates, 'certificatesigningrequests');
  const review = rule('create', g.authorization, 'subjectaccessreviews');
  const crds = (verbs: string): PolicyRule => rule(verbs, g.apiextensions, 'customresourcedefinitions');
  const crdStatus = rule('patch update', g.apiextensions, 'customresourcedefinitions/status');
  const serving = `${domains.signer}/kube-apiserver-serving`;
  const distributed = (verbs: string): readonly PolicyRule[] => [
    ...(distributes === 'no' ? [] : [rule(verbs, g.core, 'configmaps')]),
    ...(distributes === 'secrets-too' ? [rule(verbs, g.core, 'secrets')] : []),
  ];

  const ofControllers: Readonly<Record<BuiltinController, readonly PolicyRule[]>> = {
    'csr-approver': [
      requests('R'),
      rule('update', g.certificates, 'certificatesigningrequests/approval'),
      rule('approve', g.certificates, 'signers', signers['node-client']),
      review,
      events,
    ],
    'csr-signer': [
      requests('R'),
      rule('update', g.certificates, 'certificatesigningrequests/status'),
      rule('sign', g.certificates, 'signers', [...wellKnownNames, ...own]),
      rule('create get list', kedgeNames.group, CertificateLedgerEntries.plural),
      events,
    ],
    'csr-policy-approver': [
      requests('R'),
      ...(approves.length === 0
        ? []
        : [
            rule('update', g.certificates, 'certificatesigningrequests/approval'),
            rule('approve', g.certificates, 'signers', approves),
          ]),
      events,
    ],
    'csr-cleaner': [requests('delete get list watch')],
    'pod-certificate-signer': [
      rule('R', g.certificates, 'podcertificaterequests'),
      ...(podSigners.length === 0
        ? []
        : [
            rule('update', g.certificates, 'podcertificaterequests/status'),
            rule('sign', g.certificates, 'signers', podSigners),
            rule('create get list', kedgeNames.group, CertificateLedgerEntries.plural),
          ]),
      events,
    ],
    'pod-certificate-cleaner': [rule('delete get list watch', g.certificates, 'podcertificaterequests')],
    'crd-names': [crds('R'), crdStatus, events],
    'crd-established': [crds('R'), crdStatus, events],
    'crd-finalizer': [
      crds('get list patch update watch'),
      crdStatus,
      rule('update', g.apiextensions, 'customresourcedefinitions/finalizers'),
      rule('delete deletecollection get list', '*', '*'),
      events,
    ],
    'ca-rotation': [rule('list', g.certificates, 'clustertrustbundles'), ...distributed('list'), events],
    'trust-distributor': [
      rule('R', g.core, 'namespaces'),
      ...(distributes === 'no'
        ? []
        : [rule('create delete get list update watch', g.certificates, 'clustertrustbundles')]),
      ...distributed('create delete get list update watch'),
    ],
    'trust-bundle-publisher': [
      rule('attest', g.certificates, 'signers', [serving, ...wellKnownNames, ...own]),
      rule('create delete get list patch update watch', g.certificates, 'clustertrustbundles'),
      events,
    ],
    'root-ca-publisher': [
      rule('R', g.core, 'namespaces'),
      rule('create get list update watch', g.core, 'configmaps'),
      events,
    ],
    'service-account': [
      rule('R', g.core, 'namespaces'),
      rule('create get list watch', g.core, 'serviceaccounts'),
      events,
    ],
    'service-account-token': [
      rule('delete get list patch update watch', g.core, 'secrets'),
      rule('get list patch update watch', g.core, 'serviceaccounts'),
      events,
    ],
    'legacy-token-cleaner': [
      rule('get', g.core, 'configmaps', [legacyTokenTracking.name]),
      rule('delete list patch', g.core, 'secrets'),
      rule('list', g.core, 'pods serviceaccounts'),
    ],
    namespace: [
      rule('delete get list watch', g.core, 'namespaces'),
      rule('update', g.core, 'namespaces/finalize namespaces/status'),
      rule('delete deletecollection get list watch', '*', '*'),
    ],
    'garbage-collector': [rule('delete get list patch update watch', '*', '*'), events],
    'clusterrole-aggregation': [rule('escalate get list patch update watch', g.rbac, 'clusterroles')],
    'policy-status': [
      rule('R', g.admissionregistration, 'validatingadmissionpolicies'),
      rule('get patch update', g.admissionregistration, 'validatingadmissionpolicies/status'),
      events,
    ],
  };

  return new Map<string, readonly PolicyRule[]>([
    ...Object.entries(ofControllers).map(([controller, rules]): [string, readonly PolicyRule[]] => [
      controllerAccounts[controller as BuiltinController],
      rules,
    ]),
    // Accounts of Kubernetes' own controllers: one for everything that is done with certificate requests, and one for
    // publishing the anchors of the API server.
    [
      'certificate-controller',
      [
        requests('delete get list watch'),
        rule('update', g.certificates, 'certificatesigningrequests/approval certificatesigningrequests/status'),
        rule('approve', g.certificates, 'signers', signers['node-client']),
        rule('sign', g.certificates, 'signers', wellKnownNames),
        review,
        events,
      ],
    ],
    [
      'kube-apiserver-serving-clustertrustbundle-publisher',
      [
        rule('attest', g.certificates, 'signers', [serving]),
        rule('create delete list update watch', g.certificates, 'clustertrustbundles'),
        events,
      ],
    ],
  ]);
}
