import { createHash } from 'node:crypto';
import type { Domains } from '../api/domains.js';
import { followConfiguration } from '../runtime/configuration-metrics.js';
import { type FollowOptions, NotYet, type TextSource } from '../runtime/text-source.js';
import {
  type Cipher,
  type Encryption,
  encryptedPrefix,
  identity,
  keyProvider,
  latest,
  type Provider,
  ResourceEncryption,
} from '../store/encryption/encryption.js';
import type { KmsProvider } from '../store/encryption/kms/kms-provider.js';
import {
  type ConfiguredProvider,
  type EncryptionRule,
  type KeyedName,
  readEncryptionConfiguration,
} from './encryption-configuration.js';
import type { ServerEncryptionMetrics } from './encryption-metrics.js';

export interface OpenedEncryption extends Encryption {
  /** Returns why the key services in use do not work; undefined if all of them do. */
  problem(): string | undefined;
}

/**
 * Opens the encryption that a text or file configures. A changed file takes effect if all its key services work.
 * Resolves when each key service was asked once for its status.
 *
 * @throws Error with all problems of the configuration
 */
export async function openEncryption(
  source: TextSource,
  {
    domains,
    metrics,
    ...following
  }: FollowOptions & { readonly domains: Domains; readonly metrics?: ServerEncryptionMetrics },
): Promise<OpenedEncryption> {
  let current: OpenEncryption = { encryption: new ResourceEncryption(), services: new Map() };
  let isOpen = false;
  const { signal } = following;
  signal.addEventListener('abort', () => closeAll(current), { once: true });
  await followConfiguration(
    source,
    async (text) => {
      const next = await openRules(
        await readEncryptionConfiguration(text, domains),
        { ...following, metrics },
        current,
      );
      const problem = problemOf(next);
      if (isOpen && problem !== undefined) {
        closeAll(next, current);
        throw new NotYet(`a key service does not work: ${problem}`);
      }
      closeAll(current, next);
      current = next;
      isOpen = true;
      if (signal.aborted) closeAll(next);
    },
    { ...following, option: 'encryptionConfiguration', tell: metrics?.configured },
  );
  return { ...latest(() => current.encryption), problem: () => problemOf(current) };
}

type Parts = Pick<FollowOptions, 'clock' | 'log'> & { readonly metrics: ServerEncryptionMetrics | undefined };

interface OpenEncryption {
  readonly encryption: ResourceEncryption;
  /** The key services by their configuration. */
  readonly services: ReadonlyMap<string, Service>;
}

interface Service {
  readonly provider: KmsProvider;
  close(): void;
}

const problemOf = ({ services }: OpenEncryption): string | undefined =>
  [...services.values()].find(({ provider }) => provider.problem !== undefined)?.provider.problem;

/** Closes the key services of a configuration that the other one does not use. */
function closeAll({ services }: OpenEncryption, other?: OpenEncryption): void {
  for (const [text, service] of services) if (other?.services.get(text) !== service) service.close();
}

/**
 * Opens the rules. A resource in several rules has the providers of all of them, those of the first rule first. A key
 * service that was in use before is kept, with the data keys that it has decrypted.
 */
async function openRules(
  rules: readonly EncryptionRule[],
  parts: Parts,
  before: OpenEncryption,
): Promise<OpenEncryption> {
  const services = new Map<string, Service>();
  const openProvider = async (configured: ConfiguredProvider): Promise<readonly Provider[]> => {
    if (configured.type === 'identity') return [identity];
    if (configured.type !== 'kms') {
      const cipherOf = await ciphers[configured.type]();
      const prefixOf = (name: string): string => `${encryptedPrefix}${configured.type}:v1:${name}:`;
      return configured.keys.map(({ name, secret }) =>
        keyProvider(prefixOf(name), cipherOf(secret), `${prefixOf(name)}${fingerprint(secret)}`),
      );
    }
    const text = JSON.stringify(configured);
    const service = before.services.get(text) ?? (await openKms(configured, parts));
    services.set(text, service);
    return [service.provider];
  };
  const providers = new Map<string, readonly [Provider, ...Provider[]]>();
  for (const { resources, providers: configured } of rules) {
    const opened = (await Promise.all(configured.map(openProvider))).flat();
    for (const resource of resources)
      providers.set(resource, [...(providers.get(resource) ?? []), ...opened] as [Provider, ...Provider[]]);
  }
  const added = [...services].filter(([text]) => !before.services.has(text));
  await Promise.all(added.map(([, { provider }]) => provider.start()));
  return { encryption: new ResourceEncryption(providers, parts.metrics), services };
}

/**
 * Returns a fingerprint of a secret, because a secret may be replaced under the same key name. It is kept in memory
 * only.
 */
const fingerprint = (secret: Buffer): string => createHash('sha256').update(secret).digest('base64');

/** The ciphers, whose modules are loaded when they are used. */
const ciphers: Readonly<Record<KeyedName, () => Promise<(secret: Buffer) => Cipher>>> = {
  aesgcm: async () => (await import('../store/encryption/aes.js')).aesGcm,
  aescbc: async () => (await import('../store/encryption/aes.js')).aesCbc,
  secretbox: async () => (await import('../store/encryption/secretbox.js')).secretbox,
};

async function openKms(
  { name, endpoint, timeoutMs }: ConfiguredProvider & { readonly type: 'kms' },
  { metrics, ...parts }: Parts,
): Promise<Service> {
  const [{ KmsProvider }, { connectKeyService }] = await Promise.all([
    import('../store/encryption/kms/kms-provider.js'),
    import('../store/encryption/kms/key-service.js'),
  ]);
  const closing = new AbortController();
  const service = connectKeyService(endpoint, timeoutMs);
  const counted = metrics?.kms(name);
  return {
    provider: new KmsProvider({
      ...parts,
      name,
      service: counted?.timed(service) ?? service,
      signal: closing.signal,
      metrics: counted,
    }),
    close: () => closing.abort(),
  };
}
