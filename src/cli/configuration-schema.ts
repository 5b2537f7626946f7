import { z } from 'zod';
import { type Configuration, defaults } from './configuration-options.js';

/** Options of `kedge serve` as a file may give them. Names, defaults and meanings are those of config/server.yaml. */

const milliseconds = z.number().int().nonnegative();
const seconds = z.number().int().nonnegative();

export const configuration = z.strictObject({
  host: z.string().min(1).default(defaults.host),
  port: z.number().int().min(0).max(65_535).default(defaults.port),
  dataDir: z.string().min(1).default(defaults.dataDir),
  store: z.string().min(1).optional(),
  controllers: z.union([z.literal('all'), z.array(z.string())]).default(defaults.controllers),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default(defaults.logLevel),
  logFormat: z.enum(['auto', 'pretty', 'json']).default(defaults.logFormat),
  authorization: z.enum(['RBAC', 'AlwaysAllow']).default(defaults.authorization),
  anonymous: z.boolean().default(defaults.anonymous),
  tokenFile: z.string().optional(),
  serviceAccounts: z
    .strictObject({
      issuers: z.array(z.string().min(1)).min(1).default(defaults.serviceAccounts.issuers),
      apiAudiences: z.array(z.string().min(1)).default([]),
      verificationKeyFiles: z.array(z.string()).default([]),
      maxTokenSeconds: seconds
        .refine((value) => value === 0 || value >= 3_600, 'must be 0 or at least 3600')
        .default(defaults.serviceAccounts.maxTokenSeconds),
    })
    .prefault({}),
  signing: z
    .strictObject({
      seconds: z.number().int().min(600).default(defaults.signing.seconds),
      certificateFile: z.string().optional(),
      keyFile: z.string().optional(),
    })
    .refine(
      ({ certificateFile, keyFile }) => (certificateFile === undefined) === (keyFile === undefined),
      'certificateFile and keyFile go together',
    )
    .prefault({}),
  domains: z
    .strictObject({
      api: z.string().min(1).default(defaults.domains.api),
      signer: z.string().min(1).default(defaults.domains.signer),
    })
    .prefault({}),
  graceMs: milliseconds.default(defaults.graceMs),
}) satisfies z.ZodType<Configuration>;
