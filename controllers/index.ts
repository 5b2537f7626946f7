/// <reference types="node" preserve="true" />
/**
 * Everything a program may import from `kedge/controllers`: each built-in controller, all of them together, and those that
 * only programs with webhooks run.
 */
import type { LedgerRecord } from '../src/api/certificate-ledger.js';
import { type Domains, defaultDomains } from '../src/api/domains.js';
import type { Runnable } from '../src/controller/controller.js';
import type { SigningOptions } from '../src/controller/signing.js';
import type { Signer } from '../src/pki/signer.js';
import { type CaRotationOptions, caRotation, type RotatedCa } from './ca-rotation/ca-rotation.js';
import { clusterRoleAggregation } from './clusterrole-aggregation/clusterrole-aggregation.js';
import { crdEstablished } from './crd-established/crd-established.js';
import { crdFinalizer } from './crd-finalizer/crd-finalizer.js';
import type { CustomResourceInstances } from './crd-finalizer/instances.js';
import { crdNames } from './crd-names/crd-names.js';
import { csrApprover } from './csr-approver/csr-approver.js';
import { csrCleaner } from './csr-cleaner/csr-cleaner.js';
import type { RequestRetention } from './csr-cleaner/expiry.js';
import { csrPolicyApprover, type PolicyApproverOptions } from './csr-policy-approver/csr-policy-approver.js';
import { csrSigners } from './csr-signer/csr-signer.js';
import { garbageCollector } from './garbage-collector/garbage-collector.js';
import { legacyTokenCleaner } from './legacy-token-cleaner/legacy-token-cleaner.js';
import { namespaceController, sharedSettleMs } from './namespace/namespace.js';
import { podCertificateCleaner } from './pod-certificate-cleaner/pod-certificate-cleaner.js';
import { podCertificateSigners } from './pod-certificate-signer/pod-certificate-signer.js';
import { type PolicyStatusOptions, policyStatus } from './policy-status/policy-status.js';
import { rootCaPublisher } from './root-ca-publisher/root-ca-publisher.js';
import { serviceAccountController } from './service-account/service-account.js';
import {
  type ServiceAccountTokenOptions,
  serviceAccountTokenController,
} from './service-account-token/service-account-token.js';
import {
  type TrustSource,
  trustBundlePublisher,
  trustSources,
} from './trust-bundle-publisher/trust-bundle-publisher.js';
import { type TrustDistributorOptions, trustDistributor } from './trust-distributor/trust-distributor.js';

export type { SigningOptions, SigningOutcome } from '../src/controller/signing.js';
export type { RotationPhase, RotationPolicy } from '../src/pki/ca-rotation.js';
export { type CaInjectorOptions, caInjector } from './ca-injector/ca-injector.js';
export { type CaRotationOptions, caRotation, type RotatedCa, type RotationState } from './ca-rotation/ca-rotation.js';
export { clusterRoleAggregation } from './clusterrole-aggregation/clusterrole-aggregation.js';
export { crdEstablished } from './crd-established/crd-established.js';
export { crdFinalizer } from './crd-finalizer/crd-finalizer.js';
export type { CustomResourceInstances } from './crd-finalizer/instances.js';
export { crdNames } from './crd-names/crd-names.js';
export { csrApprover } from './csr-approver/csr-approver.js';
export { csrCleaner } from './csr-cleaner/csr-cleaner.js';
export type { RequestRetention } from './csr-cleaner/expiry.js';
export { csrPolicyApprover, type PolicyApproverOptions } from './csr-policy-approver/csr-policy-approver.js';
export type { RequestFacts } from './csr-policy-approver/facts.js';
export type {
  CertificatePolicy,
  ExpressionCompiler,
  KeyRule,
  PolicyRule,
  SubjectField,
} from './csr-policy-approver/policy.js';
export { csrSigners } from './csr-signer/csr-signer.js';
export { type GarbageCollectorOptions, garbageCollector } from './garbage-collector/garbage-collector.js';
export { type LegacyTokenCleanerOptions, legacyTokenCleaner } from './legacy-token-cleaner/legacy-token-cleaner.js';
export { namespaceController } from './namespace/namespace.js';
export { podCertificateCleaner } from './pod-certificate-cleaner/pod-certificate-cleaner.js';
export { podCertificateSigners } from './pod-certificate-signer/pod-certificate-signer.js';
export { type PolicyStatusOptions, policyStatus } from './policy-status/policy-status.js';
export { type RootCaPublisherOptions, rootCaPublisher } from './root-ca-publisher/root-ca-publisher.js';
export { serviceAccountController } from './service-account/service-account.js';
export {
  type ServiceAccountTokenOptions,
  serviceAccountTokenController,
} from './service-account-token/service-account-token.js';
export {
  type TrustBundlePublisherOptions,
  type TrustSource,
  trustBundlePublisher,
  trustSources,
} from './trust-bundle-publisher/trust-bundle-publisher.js';
export type {
  NamespacedTarget,
  TrustBundle,
  TrustBundleSource,
  TrustTargets,
} from './trust-distributor/trust-bundle.js';
export { type TrustDistributorOptions, trustDistributor } from './trust-distributor/trust-distributor.js';

/** Options of the built-in controllers. */
export interface BuiltinControllerOptions {
  /** Signers of certificates. Their trust anchors, if they have any, are published as ClusterTrustBundles. */
  readonly signers?: readonly Signer[];
  /**
   * Returns the CAs in PEM that verify the API server; called regularly. Without this function, they are not published.
   */
  readonly rootCa?: () => string | Promise<string>;
  /** Returns tokens for Secrets of type service-account-token. Without this function, these Secrets stay empty. */
  readonly mintToken?: ServiceAccountTokenOptions['mint'];
  /** Domain names of API groups and well-known names; those of Kubernetes by default. */
  readonly domains?: Domains;
  /** Rules by which requests are approved and denied. Without rules, only requests of node clients are decided. */
  readonly certificatePolicy?: PolicyApproverOptions;
  /** CAs in Secrets that are created and rotated. */
  readonly rotatedCas?: readonly RotatedCa[];
  /** Called for each rotated CA whenever it was checked. */
  readonly onRotation?: CaRotationOptions['onLooked'];
  /** Bundles of trust anchors to distribute. Without bundles, nothing is distributed, and nothing is removed. */
  readonly trust?: TrustDistributorOptions;
  /** Whether certificates are recorded in the ledger before they are returned to requesters; false by default. */
  readonly certificateLedger?: boolean;
  /** Called for every certificate that was returned to its requester. */
  readonly onIssued?: (record: LedgerRecord) => void;
  /** Called with the outcome of each call to a signer, by the signer name that it serves. */
  readonly onOutcome?: SigningOptions['onOutcome'];
  /** How long decided and undecided requests are kept; see the csr-cleaner. */
  readonly csrRetention?: RequestRetention;
  /** Milliseconds for which superseded trust bundles of signers are kept. */
  readonly trustGraceMs?: number;
  /**
   * Access to the instances of a CustomResourceDefinition without admission and discovery; by default the API is used.
   */
  readonly customResources?: CustomResourceInstances;
  /** Checks the expressions of admission policies against the served types. Without it, their status is not updated. */
  readonly checkPolicy?: PolicyStatusOptions['check'];
  /** Whether other servers write to the same store. */
  readonly storeIsShared?: boolean;
}

/** Returns every built-in controller, in the order of importance. Their names are those of their accounts and roles. */
export function builtinControllers(options: BuiltinControllerOptions = {}): readonly Runnable[] {
  const { signers = [], rootCa, mintToken, domains = defaultDomains, csrRetention, customResources } = options;
  const { certificatePolicy, rotatedCas = [], trust, certificateLedger = false, onIssued, onOutcome } = options;
  const { trustGraceMs, checkPolicy, storeIsShared = false, onRotation } = options;
  const sources = [
    ...trustSources(signers, trustGraceMs === undefined ? {} : { graceMs: trustGraceMs }),
    ...(rootCa === undefined ? [] : [servingSource(rootCa, domains)]),
  ];
  const signing: SigningOptions = {
    signers,
    ledger: certificateLedger,
    ...(onIssued === undefined ? {} : { onIssued }),
    ...(onOutcome === undefined ? {} : { onOutcome }),
  };
  return [
    crdNames(),
    crdEstablished(),
    crdFinalizer(customResources === undefined ? {} : { instances: customResources }),
    namespaceController({ settleMs: storeIsShared ? sharedSettleMs : 0 }),
    serviceAccountController(),
    ...(rootCa === undefined ? [] : [rootCaPublisher({ rootCa, domains })]),
    ...(mintToken === undefined
      ? []
      : [serviceAccountTokenController({ mint: mintToken, rootCa: rootCa ?? (() => ''), domains })]),
    legacyTokenCleaner({ domains }),
    clusterRoleAggregation(),
    ...(checkPolicy === undefined ? [] : [policyStatus({ check: checkPolicy })]),
    csrApprover({ domains }),
    ...(certificatePolicy === undefined ? [] : [csrPolicyApprover({ domains, ...certificatePolicy })]),
    ...csrSigners(signing),
    ...podCertificateSigners(signing),
    csrCleaner(csrRetention === undefined ? {} : { retention: csrRetention }),
    podCertificateCleaner(),
    ...(rotatedCas.length === 0
      ? []
      : [
          caRotation({
            cas: rotatedCas,
            inSecrets: trust?.secretTargets ?? false,
            ...(trust?.owner === undefined ? {} : { owner: trust.owner }),
            ...(onRotation === undefined ? {} : { onLooked: onRotation }),
          }),
        ]),
    ...(sources.length === 0 ? [] : [trustBundlePublisher({ sources })]),
    ...(trust === undefined ? [] : [trustDistributor(trust)]),
    garbageCollector({ domains }),
  ];
}

/** Returns the source of the CAs that verify the API server, which are published as well. */
const servingSource = (rootCa: NonNullable<BuiltinControllerOptions['rootCa']>, { signer }: Domains): TrustSource => ({
  signerName: `${signer}/kube-apiserver-serving`,
  anchors: async () => rootCa(),
  graceMs: 0,
});
