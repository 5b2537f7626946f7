import { policyForm, policyProblems } from '../../controllers/csr-policy-approver/policy.js';
import { trustForm, trustProblems } from '../../controllers/trust-distributor/trust-bundle.js';
import { readServiceAddresses } from '../admission/webhooks/target.js';
import {
  anyString,
  boolean,
  type Check,
  type Checks,
  checkThat,
  fields,
  integer,
  isNonEmptyString,
  listOf,
  mapOf,
  nonEmptyString,
  oneOf,
  type Problem,
} from '../api/checks.js';
import type { Domains } from '../api/domains.js';
import { dnsSubdomain } from '../api/names.js';
import { isObject } from '../api/object.js';
import { servedSigner } from '../api/signer-name.js';
import { defaultFeatureGates } from '../apiserver/feature-gates.js';
import type { AnonymousPolicy } from '../auth/anonymous.js';
import type { ConnectionLimits } from '../http/connection-limits.js';
import type { Signer } from '../pki/signer.js';
import type { TextSource } from '../runtime/text-source.js';
import { etcdChecks } from '../store/etcd/etcd-options.js';
import type { FrontProxySettings } from './authentication.js';
import type { AuditOptions } from './open-audit.js';
import type { OperationsOptions } from './operations.js';
import { authorizationModes, type ServerOptions } from './options.js';
import type { ServingFiles } from './serving-files.js';
import { isServingName } from './serving-names.js';
import { type CertificateOptions, certificateSeconds, configuredSigners } from './signing-options.js';

/**
 * Checks the types and ranges of the options of a server. Programs without static types get an error with the path of
 * the invalid option, before anything is opened. The file of `kedge serve` is checked by the same rules. Checks that
 * depend on more than the value are made where the option is used.
 */

const seconds = integer({ from: 0 });
const milliseconds = integer({ from: 0 });
/** A maximum number; 0 for no limit. */
const count = integer({ from: 0 });
/** A time limit in milliseconds. */
const period = integer({ from: 100, to: 86_400_000 });
const domain = checkThat('a DNS name', (value) => isNonEmptyString(value) && dnsSubdomain(value).length === 0);
const callback = checkThat('a function', (value) => typeof value === 'function');
const source: Check = (value, path) =>
  typeof value === 'string'
    ? undefined
    : (checkThat('a string, or an object with the path of a file', isObject)(value, path) ??
      fields<Exclude<TextSource, string>>({ file: nonEmptyString, option: nonEmptyString }, 'file')(value, path));
const headers = listOf(
  checkThat('a header name', (value) => isNonEmptyString(value) && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(value)),
);
const mode = oneOf(authorizationModes);

/** Returns a check for an object with these methods, which may be those of its class. */
const withMethods = (kind: string, ...methods: readonly string[]): Check =>
  checkThat(`${kind} with the methods ${methods.join(', ')}`, (value) => hasMethods(value, methods));
const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  isObject(value) && methods.every((method) => typeof value[method] === 'function');

/** Checks a signer. Signers are often instances of classes, with further members. */
const signer: Check = (value, path) => {
  const problem = checkThat('a signer with the method sign', (candidate) => hasMethods(candidate, ['sign']))(
    value,
    path,
  );
  if (problem !== undefined) return problem;
  const { serves, signPod, trustAnchors, caNotAfter, stop } = value as Partial<Signer>;
  return (
    servedSigner(serves, `${path}.serves`) ??
    (signPod === undefined ? undefined : callback(signPod, `${path}.signPod`)) ??
    (trustAnchors === undefined ? undefined : callback(trustAnchors, `${path}.trustAnchors`)) ??
    (caNotAfter === undefined ? undefined : callback(caNotAfter, `${path}.caNotAfter`)) ??
    (stop === undefined ? undefined : callback(stop, `${path}.stop`))
  );
};

const storeMethods = ['get', 'scan', 'commit', 'changes', 'revision', 'close'];

const connectionLimits: Checks<ConnectionLimits> = {
  connections: count,
  headerBytes: integer({ from: 8_192, to: 1_048_576 }),
  headersMs: period,
  // Longer than the longest request, and no longer than a timer can wait.
  requestMs: integer({ from: 100, to: 2_147_483_647 }),
  idleMs: period,
};

const serving: Checks<ServingFiles> = {
  certificateFile: nonEmptyString,
  keyFile: nonEmptyString,
  caFile: nonEmptyString,
};

const listen: Checks<NonNullable<ServerOptions['listen']>> = {
  host: nonEmptyString,
  port: integer({ from: 0, to: 65_535 }),
  http2: boolean,
  servingNames: listOf(
    checkThat('a DNS name or an IP address', (value) => isNonEmptyString(value) && isServingName(value)),
  ),
  serving: fields(serving, 'certificateFile', 'keyFile', 'caFile'),
  limits: fields(connectionLimits),
};

const domains: Checks<Domains> = { api: domain, signer: domain, extensions: listOf(nonEmptyString, { least: 1 }) };

const frontProxy: Checks<FrontProxySettings> = {
  ca: source,
  allowedNames: listOf(nonEmptyString),
  usernameHeaders: headers,
  uidHeaders: headers,
  groupHeaders: headers,
  extraHeaderPrefixes: headers,
};

const authenticationWebhook: Checks<NonNullable<ServerOptions['authenticationWebhook']>> = {
  kubeconfig: nonEmptyString,
  cacheSeconds: seconds,
};
const authorizationWebhook: Checks<NonNullable<ServerOptions['authorizationWebhook']>> = {
  kubeconfig: nonEmptyString,
  allowedSeconds: seconds,
  refusedSeconds: seconds,
};

const auditWebhook: Checks<NonNullable<AuditOptions['webhook']>> = {
  kubeconfig: nonEmptyString,
  waitSeconds: integer({ from: 1 }),
};
const audit: Checks<AuditOptions> = {
  policy: source,
  logFile: anyString,
  maxSizeMb: count,
  maxBackups: count,
  maxAgeDays: count,
  webhook: fields(auditWebhook, 'kubeconfig'),
};

const operations: Checks<OperationsOptions> = {
  metrics: boolean,
  audit: fields(audit, 'policy'),
  readOnlyRequests: count,
  mutatingRequests: count,
  watches: count,
  requestTimeoutMs: period,
};

const certificates: Check = (value, path) => {
  const problem = fields<CertificateOptions>({
    signers: configuredSigners,
    policy: policyForm,
    expressions: callback,
    trust: trustForm,
  })(value, path);
  if (problem !== undefined) return problem;
  const { policy, expressions, trust } = value as CertificateOptions;
  const [wrong] = [
    ...(policy === undefined ? [] : policyProblems(policy, expressions).map((each) => `policy.${each}`)),
    ...(trust === undefined ? [] : trustProblems(trust).map((each) => `trust.${each}`)),
  ];
  return wrong === undefined ? undefined : { path, wrong: `cannot be used: ${wrong}` };
};

const top: Checks<ServerOptions> = {
  store: checkThat(
    `an address, or a store with the methods ${storeMethods.join(', ')}`,
    (candidate) => typeof candidate === 'string' || hasMethods(candidate, storeMethods),
  ),
  etcd: fields(etcdChecks),
  encryptionConfiguration: source,
  dataDir: nonEmptyString,
  listen: fields(listen),
  onListening: callback,
  onRenewed: callback,
  onFailed: callback,
  intercept: callback,
  controllers: (value, path) =>
    value === 'all'
      ? undefined
      : (checkThat("'all' or a list of names", Array.isArray)(value, path) ?? listOf(nonEmptyString)(value, path)),
  signers: listOf(signer),
  log: withMethods('a logger', 'debug', 'info', 'warn', 'error', 'child'),
  clock: withMethods('a clock', 'now', 'monotonic', 'sleep'),
  domains: fields(domains, 'api', 'signer', 'extensions'),
  featureGates: fields(checkEach(defaultFeatureGates, boolean)),
  authenticationWebhook: fields(authenticationWebhook, 'kubeconfig'),
  authorizationWebhook: fields(authorizationWebhook, 'kubeconfig'),
  webhookServices: (value, path) => mapOf(anyString)(value, path) ?? serviceProblem(value as ServiceTable, path),
  webhookKubeconfig: nonEmptyString,
  authorization: (value, path) => (Array.isArray(value) ? listOf(mode, { least: 1 })(value, path) : mode(value, path)),
  authorizationConfiguration: source,
  nodeRestriction: boolean,
  anonymous: (value, path) =>
    typeof value === 'boolean'
      ? undefined
      : (checkThat('true, false, or an object with paths', isObject)(value, path) ??
        fields<Exclude<AnonymousPolicy, boolean>>({ paths: listOf(nonEmptyString) }, 'paths')(value, path)),
  clientCa: source,
  frontProxy: fields(frontProxy, 'ca'),
  authenticationConfiguration: source,
  serviceAccountIssuers: listOf(nonEmptyString, { least: 1 }),
  apiAudiences: listOf(nonEmptyString),
  serviceAccountMaxTokenSeconds: integer({ from: 3_600 }),
  serviceAccountSigningKey: source,
  serviceAccountVerificationKeys: listOf(source),
  serviceAccountKeySetUri: checkThat(
    'an https URL',
    (value) => isNonEmptyString(value) && URL.canParse(value) && new URL(value).protocol === 'https:',
  ),
  extendServiceAccountTokens: boolean,
  staticTokens: source,
  signingSeconds: certificateSeconds,
  signingCaFiles: fields<NonNullable<ServerOptions['signingCaFiles']>>(
    { certificateFile: nonEmptyString, keyFile: nonEmptyString },
    'certificateFile',
    'keyFile',
  ),
  certificates,
  operations: fields(operations),
  eventTtlSeconds: seconds,
  ledgerRetentionDays: count,
  shutdownDelayMs: milliseconds,
  graceMs: milliseconds,
};

type ServiceTable = NonNullable<ServerOptions['webhookServices']>;

function serviceProblem(services: ServiceTable, path: string): Problem | undefined {
  try {
    readServiceAddresses(services);
    return undefined;
  } catch (error) {
    return { path, wrong: `cannot be read: ${(error as Error).message}` };
  }
}

/** The checks for the members of options, and of options that are objects. */
export const optionChecks = {
  ...top,
  members: {
    audit,
    auditWebhook,
    authenticationWebhook,
    authorizationWebhook,
    connectionLimits,
    domains,
    etcd: etcdChecks,
    frontProxy,
    listen,
    operations,
    serving,
  },
};

function checkEach<T extends object>(names: T, check: Check): Checks<T> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, check])) as Checks<T>;
}

/** Throws an error of one sentence that names an option that is unknown or invalid. */
export function checkOptions(options: ServerOptions): void {
  const problem = fields(top)(options, '');
  if (problem === undefined) return;
  const { path, wrong } = problem;
  throw new Error(path === '' ? `the options of a server ${wrong}` : `option ${path} ${wrong}`);
}
