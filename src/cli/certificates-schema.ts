import { z } from 'zod';
import {
  type CertificatePolicy,
  type PolicyRule,
  policyProblems,
  ruleKeyTypes,
  subjectFields,
} from '../../controllers/csr-policy-approver/policy.js';
import {
  namespacedName,
  type TrustBundle,
  trustBundleProblems,
} from '../../controllers/trust-distributor/trust-bundle.js';
import { signerPatternViolations } from '../api/signer-name.js';
import { keyTypes } from '../pki/key-pair.js';
import type { ConfiguredSigner } from '../server/signing-options.js';
import { defaults } from './configuration-options.js';

/** Signers, rules for approval and bundles of anchors as a configuration file may give them. */

const path = z.string().min(1);
const seconds = z.number().int().positive();
const patterns = z.array(z.string());
const objectName = z.string().refine((text) => namespacedName(text) !== undefined, 'must be namespace/name');
const signerName = z
  .string()
  .refine((name) => signerPatternViolations('', name).length === 0, 'must be a signer name or domain/*');

const named = { name: signerName, maxSeconds: z.number().int().min(600).optional() };
const keyType = z.enum(keyTypes);

const signer = z.union(
  [
    z.strictObject({ ...named, certificateFile: path, keyFile: path }),
    z.strictObject({
      ...named,
      secret: objectName,
      rotation: z
        .strictObject({
          caSeconds: seconds.optional(),
          propagationSeconds: z.number().int().nonnegative().optional(),
          renewBeforeSeconds: seconds.optional(),
          keyType: keyType.optional(),
        })
        .optional(),
    }),
    z.strictObject({ ...named, command: z.array(z.string().min(1)).min(1), timeoutSeconds: seconds.optional() }),
    z.strictObject({
      ...named,
      certificateFile: path,
      pkcs11: z.strictObject({ library: path, token: z.string().min(1), key: z.string().min(1), pinFile: path }),
    }),
  ],
  'must have certificateFile and keyFile, or secret, or command, or certificateFile and pkcs11, and nothing unknown',
);

// What is absent in a file is absent here, and not undefined as the types of the package say.
export const signers = z.array(signer).transform((given) => given as ConfiguredSigner[]);

const rule = z.strictObject({
  name: z.string(),
  effect: z.enum(['approve', 'deny']),
  signers: z.array(z.string()),
  requesters: z.strictObject({ usernames: patterns.optional(), groups: patterns.optional() }).optional(),
  usages: z.array(z.string()).optional(),
  keys: z
    .array(
      z.strictObject({
        type: z.enum(ruleKeyTypes),
        minBits: z.number().int().positive().optional(),
        maxBits: z.number().int().positive().optional(),
      }),
    )
    .optional(),
  subject: z.strictObject(Object.fromEntries(subjectFields.map((field) => [field, patterns.optional()]))).optional(),
  names: z
    .strictObject({
      dns: patterns.optional(),
      ip: patterns.optional(),
      email: patterns.optional(),
      uri: patterns.optional(),
      wildcards: z.boolean().optional(),
    })
    .optional(),
  maxExpirationSeconds: seconds.optional(),
  expression: z.string().optional(),
});

export const certificatePolicy = z
  .strictObject({
    mode: z.enum(['enforce', 'shadow']).default(defaults.certificatePolicy.mode),
    default: z.enum(['leave', 'deny']).default(defaults.certificatePolicy.default),
    rules: z
      .array(rule)
      .default([])
      .transform((given) => given as PolicyRule[]),
  })
  .superRefine((policy: CertificatePolicy, context) => {
    for (const message of policyProblems(policy)) context.addIssue({ code: 'custom', message });
  });

const selector = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});
const target = z.strictObject({ name: path.optional(), key: path.optional(), namespaces: selector });

const bundle = z.strictObject({
  name: z.string(),
  sources: z.array(
    z.union(
      [
        z.strictObject({ file: path }),
        z.strictObject({ configMap: z.string(), key: path.optional() }),
        z.strictObject({ secret: z.string(), key: path }),
        z.strictObject({ clusterTrustBundle: path }),
        z.strictObject({ signer: path }),
        z.strictObject({ bundle: path }),
      ],
      'must be one of file, configMap, secret with key, clusterTrustBundle, signer, bundle',
    ),
  ),
  targets: z.strictObject({
    clusterTrustBundle: path.optional(),
    configMaps: target.optional(),
    secrets: target.optional(),
  }),
});

export const trust = z
  .strictObject({
    distribute: z.boolean().default(defaults.trust.distribute),
    owner: z
      .string()
      .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be a DNS label')
      .default(defaults.trust.owner),
    secretTargets: z.boolean().default(defaults.trust.secretTargets),
    bundles: z
      .array(bundle)
      .default([])
      .transform((given) => given as TrustBundle[]),
  })
  .superRefine(({ bundles, secretTargets, distribute }, context) => {
    for (const message of trustBundleProblems(bundles, { secretTargets }))
      context.addIssue({ code: 'custom', message });
    if (bundles.length > 0 && !distribute) {
      context.addIssue({ code: 'custom', message: 'bundles are distributed only where distribute is true' });
    }
  });
