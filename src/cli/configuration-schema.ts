import { z } from 'zod';
import { type PolicyRule, policyChecks, policyProblems } from '../../controllers/csr-policy-approver/policy.js';
import { type TrustBundle, trustChecks, trustProblems } from '../../controllers/trust-distributor/trust-bundle.js';
import { boolean, type Check, listOf, nonEmptyString, type Problem } from '../api/checks.js';
import { optionChecks } from '../server/check-options.js';
import { type ConfiguredSigner, configuredSigners } from '../server/signing-options.js';
import { type Configuration, defaults } from './configuration-options.js';

/**
 * The schema of a configuration file for `kedge serve`. Names, defaults and meanings are those of config/server.yaml;
 * the values are checked by `optionChecks`, as for programs.
 */

const of = <T>(check: Check): z.ZodType<T> =>
  z.custom<T>().superRefine((value, context) => tell(check(value, ''), context));

interface Telling {
  addIssue(issue: { readonly code: 'custom'; readonly message: string; readonly path: (string | number)[] }): void;
}

function tell(problem: Problem | undefined, context: Telling): void {
  if (problem === undefined) return;
  const parts = problem.path.split(/[.[\]]+/).filter((part) => part !== '');
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  context.addIssue({ code: 'custom', message: problem.wrong, path });
}

const orZero = (problem: Problem | undefined): Problem | undefined =>
  problem && { ...problem, wrong: problem.wrong.replace('must be', 'must be 0 or') };

const tellSentence = (sentence: string | undefined, context: Telling): void =>
  sentence === undefined ? undefined : context.addIssue({ code: 'custom', message: sentence, path: [] });

const { members } = optionChecks;

export const configuration = z.strictObject({
  host: of<string>(members.listen.host).default(defaults.host),
  port: of<number>(members.listen.port).default(defaults.port),
  http2: of<boolean>(members.listen.http2).default(defaults.http2),
  servingNames: of<string[]>(members.listen.servingNames).default(defaults.servingNames),
  serving: z
    .strictObject({
      certificateFile: of<string>(members.serving.certificateFile).optional(),
      keyFile: of<string>(members.serving.keyFile).optional(),
      caFile: of<string>(members.serving.caFile).optional(),
    })
    .refine(
      (files) => [0, 3].includes(Object.values(files).filter((file) => file !== undefined).length),
      'certificateFile, keyFile and caFile go together',
    )
    .prefault({}),
  dataDir: of<string>(optionChecks.dataDir).default(defaults.dataDir),
  store: of<string>(nonEmptyString).optional(),
  etcd: z
    .strictObject({
      caFile: of<string>(members.etcd.caFile).optional(),
      certificateFile: of<string>(members.etcd.certificateFile).optional(),
      keyFile: of<string>(members.etcd.keyFile).optional(),
      user: of<string>(members.etcd.user).optional(),
      passwordFile: of<string>(members.etcd.passwordFile).optional(),
      prefix: of<string>(members.etcd.prefix).default(defaults.etcd.prefix),
      compactionSeconds: of<number>(members.etcd.compactionSeconds).default(defaults.etcd.compactionSeconds),
    })
    .prefault({}),
  encryptionConfigFile: of<string>(nonEmptyString).optional(),
  controllers: of<Configuration['controllers']>(optionChecks.controllers).default(defaults.controllers),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default(defaults.logLevel),
  logFormat: z.enum(['auto', 'pretty', 'json']).default(defaults.logFormat),
  authorization: of<NonNullable<Configuration['authorization']>>(optionChecks.authorization).optional(),
  authorizationConfigFile: of<string>(nonEmptyString).optional(),
  nodeRestriction: of<boolean>(optionChecks.nodeRestriction).optional(),
  authorizationWebhook: z
    .strictObject({
      kubeconfig: of<string>(members.authorizationWebhook.kubeconfig).optional(),
      allowedSeconds: of<number>(members.authorizationWebhook.allowedSeconds).default(
        defaults.authorizationWebhook.allowedSeconds,
      ),
      refusedSeconds: of<number>(members.authorizationWebhook.refusedSeconds).default(
        defaults.authorizationWebhook.refusedSeconds,
      ),
    })
    .prefault({}),
  anonymous: of<boolean>(boolean).default(defaults.anonymous),
  clientCaFile: of<string>(nonEmptyString).optional(),
  tokenFile: of<string>(nonEmptyString).optional(),
  authenticationConfigFile: of<string>(nonEmptyString).optional(),
  authenticationWebhook: z
    .strictObject({
      kubeconfig: of<string>(members.authenticationWebhook.kubeconfig).optional(),
      cacheSeconds: of<number>(members.authenticationWebhook.cacheSeconds).default(
        defaults.authenticationWebhook.cacheSeconds,
      ),
    })
    .prefault({}),
  frontProxy: z
    .strictObject({
      caFile: of<string>(nonEmptyString).optional(),
      allowedNames: of<string[]>(members.frontProxy.allowedNames).default(defaults.frontProxy.allowedNames),
      usernameHeaders: of<string[]>(members.frontProxy.usernameHeaders).default(defaults.frontProxy.usernameHeaders),
      uidHeaders: of<string[]>(members.frontProxy.uidHeaders).default(defaults.frontProxy.uidHeaders),
      groupHeaders: of<string[]>(members.frontProxy.groupHeaders).default(defaults.frontProxy.groupHeaders),
      extraHeaderPrefixes: of<string[]>(members.frontProxy.extraHeaderPrefixes).default(
        defaults.frontProxy.extraHeaderPrefixes,
      ),
    })
    .refine(
      ({ caFile, allowedNames }) => caFile !== undefined || allowedNames.length === 0,
      'allowedNames needs caFile: without one, nobody is authenticated',
    )
    .prefault({}),
  serviceAccounts: z
    .strictObject({
      issuers: of<string[]>(optionChecks.serviceAccountIssuers).default(defaults.serviceAccounts.issuers),
      apiAudiences: of<string[]>(optionChecks.apiAudiences).default(defaults.serviceAccounts.apiAudiences),
      signingKeyFile: of<string>(nonEmptyString).optional(),
      verificationKeyFiles: of<string[]>(listOf(nonEmptyString)).default(defaults.serviceAccounts.verificationKeyFiles),
      keySetUri: of<string>(optionChecks.serviceAccountKeySetUri).optional(),
      // 0 means no limit, which a program expresses by leaving the option out.
      maxTokenSeconds: of<number>((value, path) =>
        value === 0 ? undefined : orZero(optionChecks.serviceAccountMaxTokenSeconds(value, path)),
      ).default(defaults.serviceAccounts.maxTokenSeconds),
      extendTokens: of<boolean>(optionChecks.extendServiceAccountTokens).default(defaults.serviceAccounts.extendTokens),
    })
    .prefault({}),
  signing: z
    .strictObject({
      seconds: of<number>(optionChecks.signingSeconds).default(defaults.signing.seconds),
      certificateFile: of<string>(nonEmptyString).optional(),
      keyFile: of<string>(nonEmptyString).optional(),
      signers: of<ConfiguredSigner[]>(configuredSigners).default(defaults.signing.signers),
    })
    .refine(
      ({ certificateFile, keyFile }) => (certificateFile === undefined) === (keyFile === undefined),
      'certificateFile and keyFile go together',
    )
    .prefault({}),
  certificatePolicy: z
    .strictObject({
      mode: of<Configuration['certificatePolicy']['mode']>(policyChecks.mode).default(defaults.certificatePolicy.mode),
      default: of<Configuration['certificatePolicy']['default']>(policyChecks.default).default(
        defaults.certificatePolicy.default,
      ),
      rules: of<PolicyRule[]>(policyChecks.rules).default(defaults.certificatePolicy.rules),
    })
    .superRefine((policy, context) => tellSentence(policyProblems(policy)[0], context))
    .prefault({}),
  trust: z
    .strictObject({
      distribute: of<boolean>(boolean).default(defaults.trust.distribute),
      owner: of<string>(trustChecks.owner).default(defaults.trust.owner),
      secretTargets: of<boolean>(trustChecks.secretTargets).default(defaults.trust.secretTargets),
      bundles: of<TrustBundle[]>(trustChecks.bundles).default(defaults.trust.bundles),
    })
    .superRefine(({ distribute, ...trust }, context) => {
      tellSentence(trustProblems(trust)[0], context);
      if (trust.bundles.length > 0 && !distribute) tellSentence('bundles need distribute: true', context);
    })
    .prefault({}),
  domains: z
    .strictObject({
      api: of<string>(members.domains.api).default(defaults.domains.api),
      signer: of<string>(members.domains.signer).default(defaults.domains.signer),
    })
    .prefault({}),
  webhookServices: z
    .array(z.strictObject({ service: of<string>(nonEmptyString), address: of<string>(nonEmptyString) }))
    .superRefine((all, context) => {
      for (const [at, { service, address }] of all.entries())
        tell(optionChecks.webhookServices({ [service]: address }, `${at}`), context);
    })
    .refine((all) => new Set(all.map((one) => one.service)).size === all.length, 'must name each service only once')
    .default(defaults.webhookServices),
  webhookKubeconfig: of<string>(optionChecks.webhookKubeconfig).optional(),
  featureGates: z
    .strictObject({ ShardedListAndWatch: of<boolean>(boolean).default(defaults.featureGates.ShardedListAndWatch) })
    .prefault({}),
  metrics: of<boolean>(members.operations.metrics).default(defaults.metrics),
  audit: z
    .strictObject({
      policyFile: of<string>(nonEmptyString).optional(),
      logFile: of<string>(members.audit.logFile).default(defaults.audit.logFile),
      maxSizeMb: of<number>(members.audit.maxSizeMb).default(defaults.audit.maxSizeMb),
      maxBackups: of<number>(members.audit.maxBackups).default(defaults.audit.maxBackups),
      maxAgeDays: of<number>(members.audit.maxAgeDays).default(defaults.audit.maxAgeDays),
      webhook: z
        .strictObject({
          kubeconfig: of<string>(members.auditWebhook.kubeconfig).optional(),
          waitSeconds: of<number>(members.auditWebhook.waitSeconds).default(defaults.audit.webhook.waitSeconds),
        })
        .prefault({}),
    })
    .prefault({}),
  limits: z
    .strictObject({
      readOnlyRequests: of<number>(members.operations.readOnlyRequests).default(defaults.limits.readOnlyRequests),
      mutatingRequests: of<number>(members.operations.mutatingRequests).default(defaults.limits.mutatingRequests),
      watches: of<number>(members.operations.watches).default(defaults.limits.watches),
      requestTimeoutMs: of<number>(members.operations.requestTimeoutMs).default(defaults.limits.requestTimeoutMs),
      connections: of<number>(members.connectionLimits.connections).default(defaults.limits.connections),
      headerBytes: of<number>(members.connectionLimits.headerBytes).default(defaults.limits.headerBytes),
      headersMs: of<number>(members.connectionLimits.headersMs).default(defaults.limits.headersMs),
      idleMs: of<number>(members.connectionLimits.idleMs).default(defaults.limits.idleMs),
    })
    .prefault({}),
  eventTtlSeconds: of<number>(optionChecks.eventTtlSeconds).default(defaults.eventTtlSeconds),
  shutdownDelayMs: of<number>(optionChecks.shutdownDelayMs).default(defaults.shutdownDelayMs),
  graceMs: of<number>(optionChecks.graceMs).default(defaults.graceMs),
}) satisfies z.ZodType<Configuration>;
