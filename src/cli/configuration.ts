import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** Options of `kedge serve`: from a file, overridden by flags. Names, defaults and meanings are those of config/server.yaml. */

const milliseconds = z.number().int().nonnegative();
const seconds = z.number().int().nonnegative();

const configuration = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.number().int().min(0).max(65_535).default(6_443),
  dataDir: z.string().min(1).default('./.kedge'),
  store: z.string().min(1).optional(),
  controllers: z.union([z.literal('all'), z.array(z.string())]).default('all'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  logFormat: z.enum(['auto', 'pretty', 'json']).default('auto'),
  authorization: z.enum(['RBAC', 'AlwaysAllow']).default('RBAC'),
  anonymous: z.boolean().default(true),
  tokenFile: z.string().optional(),
  serviceAccounts: z
    .strictObject({
      issuers: z.array(z.string().min(1)).min(1).default(['https://kubernetes.default.svc']),
      apiAudiences: z.array(z.string().min(1)).default([]),
      verificationKeyFiles: z.array(z.string()).default([]),
      maxTokenSeconds: seconds.refine((value) => value === 0 || value >= 3_600, 'must be 0 or at least 3600').default(0),
    })
    .prefault({}),
  signing: z
    .strictObject({
      seconds: z.number().int().min(600).default(31_536_000),
      certificateFile: z.string().optional(),
      keyFile: z.string().optional(),
    })
    .refine(
      ({ certificateFile, keyFile }) => (certificateFile === undefined) === (keyFile === undefined),
      'certificateFile and keyFile go together',
    )
    .prefault({}),
  domains: z.strictObject({ api: z.string().min(1).default('k8s.io'), signer: z.string().min(1).default('kubernetes.io') }).prefault({}),
  graceMs: milliseconds.default(10_000),
});

export type Configuration = z.output<typeof configuration>;
export type ConfigurationInput = z.input<typeof configuration>;

/** Something in what the user asked for is wrong; the message is one sentence for people. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The file (if any) under the flags, checked, with defaults. Throws ConfigurationError. */
export async function readConfiguration(file: string | undefined, flags: ConfigurationInput): Promise<Configuration> {
  const fromFile = file === undefined ? {} : await readConfigurationFile(file);
  const result = configuration.safeParse({ ...fromFile, ...flags });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new ConfigurationError(`${file === undefined ? 'options' : file}: ${where}${issue?.message ?? 'not valid'}`);
}

async function readConfigurationFile(file: string): Promise<object> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new ConfigurationError(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
  const { readYaml } = await import('../api/yaml.js');
  try {
    const { value } = await readYaml(bytes);
    if (value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) throw new Error('must be a mapping of options');
    return value;
  } catch (error) {
    throw new ConfigurationError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
