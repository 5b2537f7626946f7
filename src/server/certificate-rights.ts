import type { RotatedCa } from '../../controllers/ca-rotation/ca-rotation.js';
import { namespacedName } from '../../controllers/trust-distributor/trust-bundle.js';
import type { Domains } from '../api/domains.js';
import { signerSpellings, wellKnownSigner } from '../api/well-known-signers.js';
import type { ControllerObjects, SignerOptions } from '../auth/bootstrap/controller-roles.js';
import type { Signer } from '../pki/signer.js';
import type { RunControllersOptions } from './run-controllers.js';
import type { CertificateOptions } from './signing-options.js';

/**
 * Returns the rights that the service accounts of controllers need for this configuration, and nothing else. `own` are
 * additional signers.
 */
export function certificateRights(
  { signers = [], policy, trust }: CertificateOptions,
  { own, domains }: { readonly own: readonly Pick<Signer, 'serves' | 'signPod'>[]; readonly domains: Domains },
): SignerOptions {
  const names = signers.map(({ name }) => name).filter((name) => wellKnownSigner(name, domains) === undefined);
  const approves = policy?.mode === 'shadow' ? [] : (policy?.rules ?? []).flatMap((rule) => rule.signers);
  const caSecrets = signers.flatMap((signer) =>
    'secret' in signer ? [{ secret: signer.secret, keeps: signer.rotation !== undefined }] : [],
  );
  const sources = (trust?.bundles ?? []).flatMap(({ sources: all }) => all);
  return {
    signers: [...new Set([...own.map(({ serves }) => serves), ...names])],
    podSigners: podSigners(signers, own),
    approves: [...new Set(approves.flatMap((name) => signerSpellings(name, domains)))],
    distributes: trust === undefined ? 'no' : trust.secretTargets ? 'secrets-too' : 'config-maps',
    objects: merged([
      ...caSecrets.flatMap(({ secret, keeps }) => [
        ...objects('csr-signer', 'secrets', secret),
        ...(keeps ? objects('ca-rotation', 'secrets', secret, { keeps }) : []),
      ]),
      ...sources.flatMap((source) => {
        if ('configMap' in source) return objects('trust-distributor', 'configmaps', source.configMap);
        return 'secret' in source ? objects('trust-distributor', 'secrets', source.secret) : [];
      }),
    ]),
  };
}

/**
 * Returns the names of the signers that issue certificates to pods. `own` are signers in addition to the configured
 * ones.
 */
export const podSigners = (
  configured: CertificateOptions['signers'] = [],
  own: readonly Pick<Signer, 'serves' | 'signPod'>[] = [],
): readonly string[] => [
  ...own.filter(({ signPod }) => signPod !== undefined).map(({ serves }) => serves),
  ...configured
    .filter((signer) => 'podCertificates' in signer && signer.podCertificates !== undefined)
    .map(({ name }) => name),
];

function objects(
  controller: ControllerObjects['controller'],
  resource: ControllerObjects['resource'],
  text: string,
  { keeps = false }: { readonly keeps?: boolean } = {},
): readonly ControllerObjects[] {
  const name = namespacedName(text);
  return name === undefined ? [] : [{ controller, resource, namespace: name.namespace, names: [name.name], keeps }];
}

/** Merges rights into one entry per controller, kind and namespace. */
function merged(all: readonly ControllerObjects[]): readonly ControllerObjects[] {
  const found = new Map<string, ControllerObjects>();
  for (const one of all) {
    const key = `${one.controller} ${one.resource} ${one.namespace}`;
    const before = found.get(key);
    const names = [...new Set([...(before?.names ?? []), ...one.names])];
    found.set(key, { ...one, names, keeps: one.keeps === true || before?.keeps === true });
  }
  return [...found.values()];
}

/**
 * Returns the options of the controllers for this configuration. `callbacks` contains the functions that they call with
 * their results.
 */
export const certificateControllers = (
  { policy, expressions, trust }: CertificateOptions,
  rotatedCas: readonly RotatedCa[],
  callbacks: Pick<RunControllersOptions['certificates'], 'onIssued' | 'onOutcome' | 'onRotation'> = {},
): RunControllersOptions['certificates'] => ({
  rotatedCas,
  certificateLedger: true,
  ...(policy === undefined || policy.rules.length === 0
    ? {}
    : { certificatePolicy: { policy, ...(expressions === undefined ? {} : { expressions }) } }),
  ...(trust === undefined ? {} : { trust }),
  ...callbacks,
});
