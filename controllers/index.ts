/// <reference types="node" preserve="true" />
import type { LedgerRecord } from '../src/api/certificate-ledger.js';
import { type Domains, defaultDomains } from '../src/api/domains.js';
import { isSignerDomain } from '../src/api/signer-name.js';
import type { Runnable } from '../src/controller/controller.js';
import type { Signer } from '../src/pki/signer.js';
import { caRotation, type RotatedCa } from './ca-rotation/ca-rotation.js';
import { clusterRoleAggregation } from './clusterrole-aggregation/clusterrole-aggregation.js';
import { crdEstablished } from './crd-established/crd-established.js';
import { crdFinalizer } from './crd-finalizer/crd-finalizer.js';
import type { Instances } from './crd-finalizer/instances.js';
import { crdNames } from './crd-names/crd-names.js';
import { csrApprover } from './csr-approver/csr-approver.js';
import { csrCleaner } from './csr-cleaner/csr-cleaner.js';
import type { Retention } from './csr-cleaner/expiry.js';
import { csrPolicyApprover, type PolicyApproverOptions } from './csr-policy-approver/csr-policy-approver.js';
import { csrSigners } from './csr-signer/csr-signer.js';
import { garbageCollector } from './garbage-collector/garbage-collector.js';
import { legacyTokenCleaner } from './legacy-token-cleaner/legacy-token-cleaner.js';
import { namespace } from './namespace/namespace.js';
import { rootCaPublisher } from './root-ca-publisher/root-ca-publisher.js';
import { serviceAccount } from './service-account/service-account.js';
import { type ServiceAccountTokenOptions, serviceAccountToken } from './service-account-token/service-account-token.js';
import { type TrustSource, trustBundlePublisher } from './trust-bundle-publisher/trust-bundle-publisher.js';
import { type TrustDistributorOptions, trustDistributor } from './trust-distributor/trust-distributor.js';

export interface BuiltinControllerOptions {
  /** Who signs. The anchors of those that tell them are published as ClusterTrustBundles. */
  readonly signers?: readonly Signer[];
  /** PEM of what verifies the API server; asked again and again. Without it nothing of the kind is published. */
  readonly rootCa?: () => string | Promise<string>;
  /** Makes tokens for Secrets. Without it such Secrets stay empty. */
  readonly mintToken?: ServiceAccountTokenOptions['mint'];
  readonly domains?: Domains;
  /** Approves and denies requests by rules. Without one nothing is decided but for node clients. */
  readonly certificatePolicy?: PolicyApproverOptions;
  /** CAs in Secrets that are made and replaced. */
  readonly rotatedCas?: readonly RotatedCa[];
  /** Bundles of anchors that are distributed. Without it nothing is distributed, and nothing cleaned up. */
  readonly trust?: TrustDistributorOptions;
  /** Record certificates in the ledger before they are handed out. Default: no. */
  readonly certificateLedger?: boolean;
  /** Told of every certificate that was handed out. */
  readonly onIssued?: (record: LedgerRecord) => void;
  readonly csrRetention?: Retention;
  /** How long superseded trust bundles of signers stay. */
  readonly trustGraceMs?: number;
  /** A way to the instances of a CustomResourceDefinition past admission and serving; default: the API. */
  readonly customResources?: Instances;
}

/** Every built-in controller, in the order they matter. Their names are those their accounts and roles go by. */
export function builtinControllers(options: BuiltinControllerOptions = {}): readonly Runnable[] {
  const { signers = [], rootCa, mintToken, domains = defaultDomains, csrRetention, customResources } = options;
  const { certificatePolicy, rotatedCas = [], trust, certificateLedger = false, onIssued } = options;
  const sources = trustSources(options, domains);
  return [
    crdNames(),
    crdEstablished(),
    crdFinalizer(customResources === undefined ? {} : { instances: customResources }),
    namespace(),
    serviceAccount(),
    ...(rootCa === undefined ? [] : [rootCaPublisher({ rootCa, domains })]),
    ...(mintToken === undefined
      ? []
      : [serviceAccountToken({ mint: mintToken, rootCa: rootCa ?? (() => ''), domains })]),
    legacyTokenCleaner({ domains }),
    clusterRoleAggregation(),
    csrApprover({ domains }),
    ...(certificatePolicy === undefined ? [] : [csrPolicyApprover({ domains, ...certificatePolicy })]),
    ...csrSigners({ signers, ledger: certificateLedger, ...(onIssued === undefined ? {} : { onIssued }) }),
    csrCleaner(csrRetention === undefined ? {} : { retention: csrRetention }),
    ...(rotatedCas.length === 0
      ? []
      : [
          caRotation({
            cas: rotatedCas,
            inSecrets: trust?.secretTargets ?? false,
            ...(trust?.owner === undefined ? {} : { owner: trust.owner }),
          }),
        ]),
    ...(sources.length === 0 ? [] : [trustBundlePublisher({ sources })]),
    ...(trust === undefined ? [] : [trustDistributor(trust)]),
    garbageCollector({ domains }),
  ];
}

function trustSources(
  { signers = [], rootCa, trustGraceMs }: BuiltinControllerOptions,
  domains: Domains,
): readonly TrustSource[] {
  const ofSigners = signers.flatMap((signer): readonly TrustSource[] => {
    const anchors = signer.trustAnchors?.bind(signer);
    if (anchors === undefined || isSignerDomain(signer.serves)) return [];
    return [{ signerName: signer.serves, anchors, ...(trustGraceMs === undefined ? {} : { graceMs: trustGraceMs }) }];
  });
  if (rootCa === undefined) return ofSigners;
  const serving = {
    signerName: `${domains.signer}/kube-apiserver-serving`,
    anchors: async () => rootCa(),
    graceMs: 0,
  };
  return [...ofSigners, serving];
}
