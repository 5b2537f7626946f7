/// <reference types="node" preserve="true" />
/** Everything a program may import from `kedge`. */

export type { LedgerEntrySpec, LedgerRecord } from './api/certificate-ledger.js';
export {
  type Condition,
  type Conditioned,
  type ConditionStatus,
  findCondition,
  hasCondition,
  isTrue,
  removeCondition,
  setCondition,
  type Undated,
} from './api/conditions.js';
// The vocabulary of the API.
export { controllerReference } from './api/controller-reference.js';
export { type Domains, defaultDomains } from './api/domains.js';
export {
  ApiError,
  alreadyExists,
  badRequest,
  conflict,
  type ErrorSubject,
  type ExistingObject,
  expired,
  forbidden,
  internalError,
  isReason,
  notFound,
  type Reason,
  type Status,
  type StatusCause,
  type StatusDetails,
  serviceUnavailable,
  timeout,
  tooManyRequests,
} from './api/errors.js';
// Kinds: a type, and the ResourceType that names it to a client.
export {
  type AccessQuestion,
  type AccessReviewStatus,
  type LocalSubjectAccessReview,
  LocalSubjectAccessReviews,
  type ResourceAttributes,
  type RulesReviewStatus,
  type SelectorAttributes,
  type SelfSubjectAccessReview,
  SelfSubjectAccessReviews,
  type SelfSubjectRulesReview,
  SelfSubjectRulesReviews,
  type SubjectAccessReview,
  type SubjectAccessReviewSpec,
  SubjectAccessReviews,
} from './api/kinds/access-review.js';
export type {
  AdmissionPolicyBindingSpec,
  AdmissionPolicySpec,
  MatchResources,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
  PolicyVariable,
} from './api/kinds/admission-policy.js';
export { CertificateLedgerEntries, type CertificateLedgerEntry } from './api/kinds/certificate-ledger-entry.js';
export {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  type CertificateSigningRequestSpec,
  type CertificateSigningRequestStatus,
  CertificateSigningRequests,
  certificatePem,
  isApproved,
  isDenied,
  isFailed,
  isIssued,
  isSettled,
  isUndecided,
  type KeyUsage,
  keyUsages,
  requestPem,
} from './api/kinds/certificate-signing-request.js';
export {
  bundleNamePrefix,
  type ClusterTrustBundle,
  type ClusterTrustBundleSpec,
  ClusterTrustBundles,
} from './api/kinds/cluster-trust-bundle.js';
export { type ConfigMap, ConfigMaps } from './api/kinds/config-map.js';
export {
  type CustomResourceColumnDefinition,
  type CustomResourceConversion,
  type CustomResourceDefinition,
  type CustomResourceDefinitionCondition,
  type CustomResourceDefinitionNames,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionStatus,
  CustomResourceDefinitions,
  type CustomResourceDefinitionVersion,
  type CustomResourceScale,
  type CustomResourceSubresources,
} from './api/kinds/custom-resource-definition.js';
export {
  type DeviceClass,
  type DeviceClassConfiguration,
  DeviceClasses,
  type DeviceClassSpec,
  type DeviceSelector,
  type OpaqueDeviceConfiguration,
} from './api/kinds/device-class.js';
export {
  type Event,
  type EventSeries,
  type EventSource,
  Events,
  type EventsV1Event,
  EventsV1Events,
} from './api/kinds/event.js';
export { type Lease, type LeaseSpec, Leases } from './api/kinds/lease.js';
export {
  MutatingAdmissionPolicies,
  type MutatingAdmissionPolicy,
  type MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBindings,
  type MutatingAdmissionPolicySpec,
  type Mutation,
  type MutationExpression,
} from './api/kinds/mutating-admission-policy.js';
export {
  type Namespace,
  type NamespaceCondition,
  type NamespacePhase,
  type NamespaceSpec,
  type NamespaceStatus,
  Namespaces,
} from './api/kinds/namespace.js';
export { type Node, type NodeSpec, type NodeStatus, Nodes } from './api/kinds/node.js';
export type { LocalObjectReference, ObjectReference } from './api/kinds/object-reference.js';
export {
  type Container,
  type ContainerPort,
  type ContainerStatus,
  type Pod,
  type PodSpec,
  type PodStatus,
  Pods,
  type ResourceRequirements,
  type Terminated,
  type Volume,
} from './api/kinds/pod.js';
export {
  type PodCertificateEnding,
  type PodCertificateRequest,
  type PodCertificateRequestSpec,
  type PodCertificateRequestStatus,
  PodCertificateRequests,
  podCertificateEnding,
} from './api/kinds/pod-certificate-request.js';
export {
  type AggregationRule,
  type ClusterRole,
  ClusterRoles,
  type PolicyRule,
  type Role,
  Roles,
} from './api/kinds/role.js';
export {
  type ClusterRoleBinding,
  ClusterRoleBindings,
  type RoleBinding,
  RoleBindings,
  type RoleRef,
  type Subject,
} from './api/kinds/role-binding.js';
export type { Scale } from './api/kinds/scale.js';
export { type Secret, Secrets, secretTypes } from './api/kinds/secret.js';
export { type SelfSubjectReview, SelfSubjectReviews } from './api/kinds/self-subject-review.js';
export { type ServiceAccount, ServiceAccounts } from './api/kinds/service-account.js';
export type { BoundObjectReference, TokenRequest, TokenRequestSpec } from './api/kinds/token-request.js';
export { type ReviewedUser, type TokenReview, type TokenReviewStatus, TokenReviews } from './api/kinds/token-review.js';
export {
  type AuditAnnotation,
  type ExpressionWarning,
  ValidatingAdmissionPolicies,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicyBindings,
  type ValidatingAdmissionPolicySpec,
  type ValidatingAdmissionPolicyStatus,
  type Validation,
} from './api/kinds/validating-admission-policy.js';
export {
  type MatchCondition,
  type MutatingWebhook,
  type MutatingWebhookConfiguration,
  MutatingWebhookConfigurations,
  type RuleWithOperations,
  type ServiceReference,
  type ValidatingWebhook,
  type ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurations,
  type WebhookClientConfig,
} from './api/kinds/webhook-configuration.js';
export type { LabelOperator, LabelRequirement, Labels } from './api/label-requirements.js';
export {
  type LabelExpression,
  type LabelSelector,
  type LabelSelectorSpec,
  labelSelectorFrom,
  parseLabelSelector,
} from './api/label-selectors.js';
export {
  type ApiObject,
  groupKind,
  groupResource,
  groupVersion,
  type Json,
  type JsonObject,
  keyOf,
  keyText,
  type List,
  type ManagedFieldsEntry,
  type ObjectKey,
  type ObjectMeta,
  type OwnerReference,
  type Resource,
  type ResourceType,
  resourceType,
  type Unstructured,
  unstructured,
} from './api/object.js';
export type { Steps } from './api/steps.js';
export { microTimestamp, timestamp } from './api/time.js';
export { serviceAccountGroups, serviceAccountUsername, type UserInfo, wellKnown } from './api/user.js';
export type { CauseReason } from './api/violations.js';
export {
  type SignerSpellings,
  type WellKnownSigner,
  wellKnownSigner,
  wellKnownSigners,
} from './api/well-known-signers.js';
export type { FeatureGates } from './apiserver/feature-gates.js';
export type { Intercept, InterceptedRequest } from './apiserver/intercept.js';
export type { AnonymousPolicy } from './auth/anonymous.js';
export type { FrontProxyOptions } from './auth/front-proxy.js';
export type { FrontProxyHeaders } from './auth/proxy-headers.js';
export type { CacheChange } from './client/cache-change.js';
export type { CacheObserver } from './client/cache-health.js';
export type {
  Client,
  ClientOptions,
  DeleteOptions,
  DiscoveredResource,
  DiscoverOptions,
  DiscoveryFailure,
  FieldValidation,
  ListOptions,
  MetadataOnly,
  Patch,
  ResourceClient,
  SubresourceClient,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client/client.js';
export {
  AccessError,
  type ClientCredentials,
  type ClusterAccess,
  type CredentialSource,
  fixedCredentials,
} from './client/cluster-access.js';
export { eachListed } from './client/each-listed.js';
export { type HttpClientOptions, httpClient } from './client/http-client.js';
export { type ObjectCache, type ObjectCacheOptions, openObjectCache } from './client/object-cache.js';
export { indexBy, type ObjectIndex } from './client/object-index.js';
// Clients.
export { type ConnectOptions, connect, findAccess, type RemoteClient } from './client/remote-client.js';
// Controllers.
export { approve, deny, type Verdict } from './controller/approval.js';
export type { RateLimit } from './controller/backoff.js';
export {
  type ControllerSpec,
  type Reconcile,
  type ReconcileContext,
  type ReconcileResult,
  type Runnable,
  type SharedCacheOptions,
  TerminalError,
  type Trigger,
} from './controller/controller.js';
export { type ControllerMetrics, controllerMetrics, type ReconcileOutcome } from './controller/controller-metrics.js';
export { defineController } from './controller/define-controller.js';
export { type DeleteIfPresentOptions, deleteIfPresent } from './controller/delete-if-present.js';
export { type EventRecorder, eventRecorder } from './controller/events.js';
export { addFinalizer, type FinalizerOptions, removeFinalizer, withFinalizer } from './controller/finalizer.js';
export type { HeldFormOptions } from './controller/identity-and-owners.js';
export { defineKeyedController, type KeyedWork, type Wake } from './controller/keyed-controller.js';
export { type LeaderOptions, LeadershipLost, whileLeading } from './controller/leader.js';
export { createManager, type Manager, type ManagerOptions, RunnablesLeftBehind } from './controller/manager.js';
export { type OwnedOptions, owned } from './controller/owned.js';
export { type ProbeServerOptions, probeServer } from './controller/probe-server.js';
export { type ReferredToOptions, referredTo } from './controller/referred-to.js';
export { sharedCache } from './controller/shared-cache.js';
export type { ControllerWatch, UnsyncedWatches } from './controller/watches.js';
export { writeStatus } from './controller/write-status.js';
// A server in this process.
export { createServer, type Server } from './embed.js';
export type { ConnectionLimits } from './http/connection-limits.js';
export type { AlternativeNames } from './pki/alternative-names.js';
export type { AlgorithmIdentifier } from './pki/asn1-reader.js';
export { type Certificate, readPemCertificates } from './pki/certificate.js';
export {
  type AuthorityOptions,
  type CertificateAuthority,
  createAuthorityKeyPair,
  createCertificateAuthority,
  type IssueOptions,
  type KeyPair,
  type KeyPairOptions,
  loadCertificateAuthority,
  type PodCertificateContents,
} from './pki/certificate-authority.js';
export type { CertificateExtension } from './pki/certificate-extensions.js';
export {
  type CertificateRequest,
  readCertificateRequest,
} from './pki/certificate-request.js';
export type { DistinguishedName, NameAttribute, WritableName } from './pki/distinguished-name.js';
export { generateKey, type KeyType, privateKeyPem, readPrivateKey, type SigningKey } from './pki/key-pair.js';
export type { MlDsa } from './pki/ml-dsa.js';
export { PkiError, type PkiProblem } from './pki/pki-error.js';
// Certificates and signers.
export { type NamedObject, type PodSigningRequest, type PodSigningResult, podRefusals } from './pki/pod-signing.js';
export type { Curve, PublicKey } from './pki/public-key.js';
export { createCertificateRequest, type RequestContents } from './pki/request-writer.js';
export type { Signer, SigningRequest, SigningResult } from './pki/signer.js';
export { type CaFiles, type CaFilesOptions, openCaFiles } from './pki/signers/ca-files.js';
export { type CaPodOptions, type CaSignerOptions, caSigner } from './pki/signers/ca-signer.js';
export { defineSigner, type PodSignerSpec, type Refusal, type SignerSpec } from './pki/signers/define-signer.js';
export { openPkcs11Key, type Pkcs11Key, type Pkcs11KeyOptions } from './pki/signers/pkcs11-key.js';
export { type ProcessSigner, processSigner } from './pki/signers/process-signer.js';
export type { ProcessSignerOptions } from './pki/signers/process-signer-options.js';
export { type SelfSignedSignerOptions, selfSignedSigner } from './pki/signers/self-signed-signer.js';
export { spiffeId } from './pki/signers/spiffe.js';
// What programs need besides.
export { type Clock, systemClock } from './runtime/clock.js';
export { type Logger, silentLogger } from './runtime/logger.js';
export {
  type Counter,
  type Gauge,
  type Histogram,
  type Measured,
  type MetricLabels,
  type MetricOptions,
  type Metrics,
  openMetrics,
} from './runtime/metrics.js';
export type { Observable } from './runtime/observable.js';
export { createLogger, type LoggerOptions, type LogLevel } from './runtime/pino-logger.js';
export { stopOnSignals } from './runtime/stop-on-signals.js';
export type { TextSource } from './runtime/text-source.js';
export type { FrontProxySettings } from './server/authentication.js';
export type { AuditOptions } from './server/open-audit.js';
export type { OperationsOptions } from './server/operations.js';
export type { AuthorizationMode, ServerOptions } from './server/options.js';
export type { ServingFiles } from './server/serving-files.js';
export type {
  CaUses,
  CertificateOptions,
  CommandSource,
  ConfiguredSigner,
  FilesSource,
  SecretSource,
  TokenSource,
  TrustOptions,
} from './server/signing-options.js';
export { document, StoredEntry, withRevision } from './store/document.js';
export type { Decrypted, Encryption, KeptDocument } from './store/encryption/encryption.js';
export type { EtcdOptions } from './store/etcd/etcd-options.js';
export type { EtcdFiles } from './store/etcd/etcd-secrets.js';
export type { HistoryLimits } from './store/history.js';
export { MemoryStore, type MemoryStoreOptions } from './store/memory/memory-store.js';
export { type OpenStoreOptions, openStore } from './store/open.js';
// Stores.
export {
  type Change,
  type ChangeStream,
  type Document,
  type Entry,
  HistoryCompacted,
  type Revision,
  RevisionInFuture,
  type Scan,
  type ScanOptions,
  type Store,
  StoreClosed,
  SubscriberTooSlow,
  type Write,
  WriteConflict,
} from './store/store.js';
export { StoreUnavailable } from './store/store-unavailable.js';
// Webhooks.
export {
  type AdmissionContext,
  type AdmissionKind,
  type AdmissionRequest,
  type AdmissionRequestMembers,
  type AdmissionResource,
  type AdmissionVerdict,
  type MutatingWebhookSpec,
  mutatingWebhook,
  type ValidatingWebhookSpec,
  validatingWebhook,
} from './webhook/admission.js';
export { type ConversionSpoke, type ConversionWebhookSpec, conversionWebhook } from './webhook/conversion.js';
export type { ReviewContext, Webhook } from './webhook/webhook.js';
export { type ServingCertificate, type WebhookServerOptions, webhookServer } from './webhook/webhook-server.js';
