import { z } from 'zod';
import { type PolicyRule, policyChecks, policyProblems } from '../../controllers/csr-policy-approver/policy.js';
import { type TrustBundle, trustChecks, trustProblems } from '../../controllers/trust-distributor/trust-bundle.js';
import { anyObject, boolean, type Check, listOf, nonEmptyString, oneOf, type Problem } from '../api/checks.js';
import { optionChecks } from '../server/check-options.js';
import { type ConfiguredSigner, configuredSigners } from '../server/signing-options.js';
import { type Configuration, defaults } from './configuration-options.js';

/**
 * The schema of a configuration file for `kedge serve`. Names, defaults and meanings are those of config/server.yaml;
 * the values are checked by `optionChecks`, as for programs.
 */

const checkedBy = <T>(check: Check): z.ZodType<T> =>
  z.custom<T>().superRefine((value, context) => addProblem(check(value, ''), context));

interface IssueContext {
  addIssue(issue: { readonly code: 'custom'; readonly message: string; readonly path: (string | number)[] }): void;
}

function addProblem(problem: Problem | undefined, context: IssueContext): void {
  if (problem === undefined) return;
  const parts = problem.path.split(/[.[\]]+/).filter((part) => part !== '');
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  context.addIssue({ code: 'custom', message: problem.wrong, path });
}

const orZero = (problem: Problem | undefined): Problem | undefined =>
  problem && { ...problem, wrong: problem.wrong.replace('must be', 'must be 0 or') };

const addSentence = (sentence: string | undefined, context: IssueContext): void =>
  sentence === undefined ? undefined : context.addIssue({ code: 'custom', message: sentence, path: [] });

/** The error of a schema for a value of the wrong type, in the words of a check. */
const typeProblem = (check: Check) => ({
  error: ({ code, input }: { readonly code: string; readonly input: unknown }): string | undefined =>
    code === 'invalid_type' ? check(input, '')?.wrong : undefined,
});

/** An object with these options and no others. */
const section = <T extends z.ZodRawShape>(options: T) => z.strictObject(options, typeProblem(anyObject));

const { members } = optionChecks;

export const configuration = section({
  host: checkedBy<string>(members.listen.host).default(defaults.host),
  port: checkedBy<number>(members.listen.port).default(defaults.port),
  http2: checkedBy<boolean>(members.listen.http2).default(defaults.http2),
  servingNames: checkedBy<string[]>(members.listen.servingNames).default(defaults.servingNames),
  serving: section({
    certificateFile: checkedBy<string>(members.serving.certificateFile).optional(),
    keyFile: checkedBy<string>(members.serving.keyFile).optional(),
    caFile: checkedBy<string>(members.serving.caFile).optional(),
  })
    .refine(
      (files) => [0, 3].includes(Object.values(files).filter((file) => file !== undefined).length),
      'certificateFile, keyFile and caFile go together',
    )
    .prefault({}),
  dataDir: checkedBy<string>(optionChecks.dataDir).default(defaults.dataDir),
  store: checkedBy<string>(nonEmptyString).optional(),
  etcd: section({
    caFile: checkedBy<string>(members.etcd.caFile).optional(),
    certificateFile: checkedBy<string>(members.etcd.certificateFile).optional(),
    keyFile: checkedBy<string>(members.etcd.keyFile).optional(),
    user: checkedBy<string>(members.etcd.user).optional(),
    passwordFile: checkedBy<string>(members.etcd.passwordFile).optional(),
    prefix: checkedBy<string>(members.etcd.prefix).default(defaults.etcd.prefix),
    compactionSeconds: checkedBy<number>(members.etcd.compactionSeconds).default(defaults.etcd.compactionSeconds),
  }).prefault({}),
  encryptionConfigFile: checkedBy<string>(nonEmptyString).optional(),
  controllers: checkedBy<Configuration['controllers']>(optionChecks.controllers).default(defaults.controllers),
  logLevel: checkedBy<Configuration['logLevel']>(oneOf(['debug', 'info', 'warn', 'error'])).default(defaults.logLevel),
  logFormat: checkedBy<Configuration['logFormat']>(oneOf(['auto', 'pretty', 'json'])).default(defaults.logFormat),
  authorization: checkedBy<NonNullable<Configuration['authorization']>>(optionChecks.authorization).optional(),
  authorizationConfigFile: checkedBy<string>(nonEmptyString).optional(),
  nodeRestriction: checkedBy<boolean>(optionChecks.nodeRestriction).optional(),
  authorizationWebhook: section({
    kubeconfig: checkedBy<string>(members.authorizationWebhook.kubeconfig).optional(),
    allowedSeconds: checkedBy<number>(members.authorizationWebhook.allowedSeconds).default(
      defaults.authorizationWebhook.allowedSeconds,
    ),
    refusedSeconds: checkedBy<number>(members.authorizationWebhook.refusedSeconds).default(
      defaults.authorizationWebhook.refusedSeconds,
    ),
  }).prefault({}),
  anonymous: checkedBy<boolean>(boolean).default(defaults.anonymous),
  clientCaFile: checkedBy<string>(nonEmptyString).optional(),
  tokenFile: checkedBy<string>(nonEmptyString).optional(),
  authenticationConfigFile: checkedBy<string>(nonEmptyString).optional(),
  authenticationWebhook: section({
    kubeconfig: checkedBy<string>(members.authenticationWebhook.kubeconfig).optional(),
    cacheSeconds: checkedBy<number>(members.authenticationWebhook.cacheSeconds).default(
      defaults.authenticationWebhook.cacheSeconds,
    ),
  }).prefault({}),
  frontProxy: section({
    caFile: checkedBy<string>(nonEmptyString).optional(),
    allowedNames: checkedBy<string[]>(members.frontProxy.allowedNames).default(defaults.frontProxy.allowedNames),
    usernameHeaders: checkedBy<string[]>(members.frontProxy.usernameHeaders).default(
      defaults.frontProxy.usernameHeaders,
    ),
    uidHeaders: checkedBy<string[]>(members.frontProxy.uidHeaders).default(defaults.frontProxy.uidHeaders),
    groupHeaders: checkedBy<string[]>(members.frontProxy.groupHeaders).default(defaults.frontProxy.groupHeaders),
    extraHeaderPrefixes: checkedBy<string[]>(members.frontProxy.extraHeaderPrefixes).default(
      defaults.frontProxy.extraHeaderPrefixes,
    ),
  })
    .refine(
      ({ caFile, allowedNames }) => caFile !== undefined || allowedNames.length === 0,
      'allowedNames needs caFile: without one, nobody is authenticated',
    )
    .prefault({}),
  serviceAccounts: section({
    issuers: checkedBy<string[]>(optionChecks.serviceAccountIssuers).default(defaults.serviceAccounts.issuers),
    apiAudiences: checkedBy<string[]>(optionChecks.apiAudiences).default(defaults.serviceAccounts.apiAudiences),
    signingKeyFile: checkedBy<string>(nonEmptyString).optional(),
    verificationKeyFiles: checkedBy<string[]>(listOf(nonEmptyString)).default(
      defaults.serviceAccounts.verificationKeyFiles,
    ),
    keySetUri: checkedBy<string>(optionChecks.serviceAccountKeySetUri).optional(),
    // 0 means no limit, which a program expresses by leaving the option out.
    maxTokenSeconds: checkedBy<number>((value, path) =>
      value === 0 ? undefined : orZero(optionChecks.serviceAccountMaxTokenSeconds(value, path)),
    ).default(defaults.serviceAccounts.maxTokenSeconds),
    extendTokens: checkedBy<boolean>(optionChecks.extendServiceAccountTokens).default(
      defaults.serviceAccounts.extendTokens,
    ),
  }).prefault({}),
  signing: section({
    seconds: checkedBy<number>(optionChecks.signingSeconds).default(defaults.signing.seconds),
    certificateFile: checkedBy<string>(nonEmptyString).optional(),
    keyFile: checkedBy<string>(nonEmptyString).optional(),
    signers: checkedBy<ConfiguredSigner[]>(configuredSigners).default(defaults.signing.signers),
  })
    .refine(
      ({ certificateFile, keyFile }) => (certificateFile === undefined) === (keyFile === undefined),
      'certificateFile and keyFile go together',
    )
    .prefault({}),
  certificatePolicy: section({
    mode: checkedBy<Configuration['certificatePolicy']['mode']>(policyChecks.mode).default(
      defaults.certificatePolicy.mode,
    ),
    default: checkedBy<Configuration['certificatePolicy']['default']>(policyChecks.default).default(
      defaults.certificatePolicy.default,
    ),
    rules: checkedBy<PolicyRule[]>(policyChecks.rules).default(defaults.certificatePolicy.rules),
  })
    .superRefine((policy, context) => addSentence(policyProblems(policy)[0], context))
    .prefault({}),
  trust: section({
    distribute: checkedBy<boolean>(boolean).default(defaults.trust.distribute),
    owner: checkedBy<string>(trustChecks.owner).default(defaults.trust.owner),
    secretTargets: checkedBy<boolean>(trustChecks.secretTargets).default(defaults.trust.secretTargets),
    bundles: checkedBy<TrustBundle[]>(trustChecks.bundles).default(defaults.trust.bundles),
  })
    .superRefine(({ distribute, ...trust }, context) => {
      addSentence(trustProblems(trust)[0], context);
      if (trust.bundles.length > 0 && !distribute) addSentence('bundles need distribute: true', context);
    })
    .prefault({}),
  domains: section({
    api: checkedBy<string>(members.domains.api).default(defaults.domains.api),
    signer: checkedBy<string>(members.domains.signer).default(defaults.domains.signer),
  }).prefault({}),
  webhookServices: z
    .array(
      section({ service: checkedBy<string>(nonEmptyString), address: checkedBy<string>(nonEmptyString) }),
      typeProblem(listOf(() => undefined)),
    )
    .superRefine((all, context) => {
      for (const [at, { service, address }] of all.entries())
        addProblem(optionChecks.webhookServices({ [service]: address }, `${at}`), context);
    })
    .refine((all) => new Set(all.map((one) => one.service)).size === all.length, 'must name each service only once')
    .default(defaults.webhookServices),
  webhookKubeconfig: checkedBy<string>(optionChecks.webhookKubeconfig).optional(),
  featureGates: section({
    ShardedListAndWatch: checkedBy<boolean>(boolean).default(defaults.featureGates.ShardedListAndWatch),
  }).prefault({}),
  metrics: checkedBy<boolean>(members.operations.metrics).default(defaults.metrics),
  audit: section({
    policyFile: checkedBy<string>(nonEmptyString).optional(),
    logFile: checkedBy<string>(members.audit.logFile).default(defaults.audit.logFile),
    maxSizeMb: checkedBy<number>(members.audit.maxSizeMb).default(defaults.audit.maxSizeMb),
    maxBackups: checkedBy<number>(members.audit.maxBackups).default(defaults.audit.maxBackups),
    maxAgeDays: checkedBy<number>(members.audit.maxAgeDays).default(defaults.audit.maxAgeDays),
    webhook: section({
      kubeconfig: checkedBy<string>(members.auditWebhook.kubeconfig).optional(),
      waitSeconds: checkedBy<number>(members.auditWebhook.waitSeconds).default(defaults.audit.webhook.waitSeconds),
    }).prefault({}),
  }).prefault({}),
  limits: section({
    readOnlyRequests: checkedBy<number>(members.operations.readOnlyRequests).default(defaults.limits.readOnlyRequests),
    mutatingRequests: checkedBy<number>(members.operations.mutatingRequests).default(defaults.limits.mutatingRequests),
    watches: checkedBy<number>(members.operations.watches).default(defaults.limits.watches),
    requestTimeoutMs: checkedBy<number>(members.operations.requestTimeoutMs).default(defaults.limits.requestTimeoutMs),
    connections: checkedBy<number>(members.connectionLimits.connections).default(defaults.limits.connections),
    headerBytes: checkedBy<number>(members.connectionLimits.headerBytes).default(defaults.limits.headerBytes),
    headersMs: checkedBy<number>(members.connectionLimits.headersMs).default(defaults.limits.headersMs),
    idleMs: checkedBy<number>(members.connectionLimits.idleMs).default(defaults.limits.idleMs),
  }).prefault({}),
  ledgerRetentionDays: checkedBy<number>(optionChecks.ledgerRetentionDays).default(defaults.ledgerRetentionDays),
  eventTtlSeconds: checkedBy<number>(optionChecks.eventTtlSeconds).default(defaults.eventTtlSeconds),
  shutdownDelayMs: checkedBy<number>(optionChecks.shutdownDelayMs).default(defaults.shutdownDelayMs),
  graceMs: checkedBy<number>(optionChecks.graceMs).default(defaults.graceMs),
}) satisfies z.ZodType<Configuration>;
