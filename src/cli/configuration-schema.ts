import { z } from 'zod';
import { authorizationModes } from '../server/options.js';
import { isServingName } from '../server/serving-names.js';
import { certificatePolicy, signers, trust } from './certificates-schema.js';
import { type Configuration, defaults } from './configuration-options.js';

/** Options of `kedge serve` as a file may give them. Names, defaults and meanings are those of config/server.yaml. */

const milliseconds = z.number().int().nonnegative();
const seconds = z.number().int().nonnegative();
const path = z.string().min(1);
/** Names of headers, or what they begin with. */
const headers = z.array(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be a header name'));
const mode = z.enum(authorizationModes);
const service = /^[a-z0-9.-]+\/[a-z0-9.-]+(:[1-9]\d{0,4})?$/;
const address = /^(\[[0-9a-fA-F:.]+\]|[^\s:/]+):[1-9]\d{0,4}$/;
const count = z.number().int().nonnegative();
/** Milliseconds that a timer can wait. */
const period = z.number().int().min(100).max(86_400_000);

export const configuration = z.strictObject({
  host: z.string().min(1).default(defaults.host),
  port: z.number().int().min(0).max(65_535).default(defaults.port),
  http2: z.boolean().default(defaults.http2),
  servingNames: z
    .array(z.string().refine(isServingName, 'must be a DNS name or an IP address'))
    .default(defaults.servingNames),
  dataDir: z.string().min(1).default(defaults.dataDir),
  store: z.string().min(1).optional(),
  etcd: z
    .strictObject({
      caFile: path.optional(),
      certificateFile: path.optional(),
      keyFile: path.optional(),
      user: z.string().min(1).optional(),
      passwordFile: path.optional(),
      prefix: z.string().min(1).default(defaults.etcd.prefix),
      compactionSeconds: seconds.default(defaults.etcd.compactionSeconds),
    })
    .prefault({}),
  controllers: z
    .union([z.literal('all'), z.array(z.string())], 'must be all or a list of names')
    .default(defaults.controllers),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default(defaults.logLevel),
  logFormat: z.enum(['auto', 'pretty', 'json']).default(defaults.logFormat),
  authorization: z
    .union([mode, z.array(mode).min(1)], `must be one or more of ${mode.options.join(', ')}`)
    .default(defaults.authorization),
  nodeRestriction: z.boolean().optional(),
  authorizationWebhook: z
    .strictObject({
      kubeconfig: path.optional(),
      allowedSeconds: seconds.default(defaults.authorizationWebhook.allowedSeconds),
      refusedSeconds: seconds.default(defaults.authorizationWebhook.refusedSeconds),
    })
    .prefault({}),
  anonymous: z.boolean().default(defaults.anonymous),
  clientCaFile: path.optional(),
  tokenFile: path.optional(),
  authenticationConfigFile: path.optional(),
  authenticationWebhook: z
    .strictObject({
      kubeconfig: path.optional(),
      cacheSeconds: seconds.default(defaults.authenticationWebhook.cacheSeconds),
    })
    .prefault({}),
  frontProxy: z
    .strictObject({
      caFile: path.optional(),
      allowedNames: z.array(z.string().min(1)).default(defaults.frontProxy.allowedNames),
      usernameHeaders: headers.default(defaults.frontProxy.usernameHeaders),
      uidHeaders: headers.default(defaults.frontProxy.uidHeaders),
      groupHeaders: headers.default(defaults.frontProxy.groupHeaders),
      extraHeaderPrefixes: headers.default(defaults.frontProxy.extraHeaderPrefixes),
    })
    .refine(
      ({ caFile, allowedNames }) => caFile !== undefined || allowedNames.length === 0,
      'allowedNames needs caFile: nobody is believed without one',
    )
    .prefault({}),
  serviceAccounts: z
    .strictObject({
      issuers: z.array(z.string().min(1)).min(1).default(defaults.serviceAccounts.issuers),
      apiAudiences: z.array(z.string().min(1)).default([]),
      signingKeyFile: path.optional(),
      verificationKeyFiles: z.array(path).default([]),
      keySetUri: z.url({ protocol: /^https$/ }).optional(),
      maxTokenSeconds: seconds
        .refine((value) => value === 0 || value >= 3_600, 'must be 0 or at least 3600')
        .default(defaults.serviceAccounts.maxTokenSeconds),
      extendTokens: z.boolean().default(defaults.serviceAccounts.extendTokens),
    })
    .prefault({}),
  signing: z
    .strictObject({
      seconds: z.number().int().min(600).default(defaults.signing.seconds),
      certificateFile: z.string().optional(),
      keyFile: z.string().optional(),
      signers: signers.default(defaults.signing.signers),
    })
    .refine(
      ({ certificateFile, keyFile }) => (certificateFile === undefined) === (keyFile === undefined),
      'certificateFile and keyFile go together',
    )
    .prefault({}),
  certificatePolicy: certificatePolicy.prefault({}),
  trust: trust.prefault({}),
  domains: z
    .strictObject({
      api: z.string().min(1).default(defaults.domains.api),
      signer: z.string().min(1).default(defaults.domains.signer),
    })
    .prefault({}),
  webhookServices: z
    .array(
      z.strictObject({
        service: z.string().regex(service, 'must be namespace/name or namespace/name:port'),
        address: z.string().regex(address, 'must be host:port'),
      }),
    )
    .refine((all) => new Set(all.map((one) => one.service)).size === all.length, 'must name each service once')
    .default(defaults.webhookServices),
  webhookKubeconfig: path.optional(),
  featureGates: z
    .strictObject({ ShardedListAndWatch: z.boolean().default(defaults.featureGates.ShardedListAndWatch) })
    .prefault({}),
  metrics: z.boolean().default(defaults.metrics),
  audit: z
    .strictObject({
      policyFile: z.string().min(1).optional(),
      logFile: z.string().min(1).default(defaults.audit.logFile),
      maxSizeMb: count.default(defaults.audit.maxSizeMb),
      maxBackups: count.default(defaults.audit.maxBackups),
    })
    .prefault({}),
  limits: z
    .strictObject({
      readOnlyRequests: count.default(defaults.limits.readOnlyRequests),
      mutatingRequests: count.default(defaults.limits.mutatingRequests),
      requestTimeoutMs: period.default(defaults.limits.requestTimeoutMs),
      connections: count.default(defaults.limits.connections),
      headerBytes: z.number().int().min(8_192).max(1_048_576).default(defaults.limits.headerBytes),
      headersMs: period.default(defaults.limits.headersMs),
      idleMs: period.default(defaults.limits.idleMs),
    })
    .prefault({}),
  eventTtlSeconds: seconds.default(defaults.eventTtlSeconds),
  shutdownDelayMs: milliseconds.default(defaults.shutdownDelayMs),
  graceMs: milliseconds.default(defaults.graceMs),
}) satisfies z.ZodType<Configuration>;
