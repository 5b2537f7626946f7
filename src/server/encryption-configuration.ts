import { canonicalBase64 } from '../api/base64.js';
import { type Domains, defaultDomains } from '../api/domains.js';
import { child, index, invalid, invalidText, ofEach, required, type Violation } from '../api/violations.js';
import { readYaml } from '../api/yaml.js';
import { type Following, followText, type TextSource } from '../runtime/text-source.js';
import { field, list, optional, string, struct } from '../schema/builder.js';
import { decodeConfiguration } from '../schema/configuration-file.js';
import {
  type Encryption,
  encryptedPrefix,
  identity,
  type Provider,
  ResourceEncryption,
} from '../store/encryption/encryption.js';

/** The file that says how objects are encrypted where they are kept: kind EncryptionConfiguration of Kubernetes. */

const key = struct('Key', { name: field(1, string()), secret: field(2, string()) });
const keys = (go: string) => struct(go, { keys: field(1, list(key)) });
const provider = struct('ProviderConfiguration', {
  aesgcm: optional(1, keys('AESConfiguration')),
  aescbc: optional(2, keys('AESConfiguration')),
  secretbox: optional(3, keys('SecretboxConfiguration')),
  identity: optional(4, struct('IdentityConfiguration', {})),
});
const schema = struct('EncryptionConfiguration', {
  apiVersion: field(1, string()),
  kind: field(2, string()),
  resources: field(
    3,
    list(
      struct('ResourceConfiguration', {
        resources: field(1, list(string())),
        providers: field(2, list(provider)),
      }),
    ),
  ),
});

interface Key {
  readonly name?: string;
  readonly secret?: string;
}
type KeyedName = 'aesgcm' | 'aescbc' | 'secretbox';
type ProviderConfiguration = Readonly<Partial<Record<KeyedName, { readonly keys?: readonly Key[] }>>> & {
  readonly identity?: object;
};
interface ResourceConfiguration {
  readonly resources?: readonly string[];
  readonly providers?: readonly ProviderConfiguration[];
}

/** What makes a provider of one key, loaded when it is used, and how many bytes its keys have. */
const keyed: Readonly<
  Record<
    KeyedName,
    {
      readonly lengths: readonly number[];
      load(): Promise<(prefix: string, secret: Buffer) => Provider>;
    }
  >
> = {
  aesgcm: { lengths: [16, 24, 32], load: async () => (await import('../store/encryption/aes.js')).aesGcm },
  aescbc: { lengths: [16, 24, 32], load: async () => (await import('../store/encryption/aes.js')).aesCbc },
  secretbox: { lengths: [32], load: async () => (await import('../store/encryption/secretbox.js')).secretbox },
};
const keyedNames = Object.keys(keyed) as readonly KeyedName[];

/**
 * The encryption that a text or file configures, and what the file says later.
 * @throws Error with everything that is wrong with it now
 */
export async function openEncryption(
  source: TextSource,
  { domains, ...following }: Following & { readonly domains: Domains },
): Promise<Encryption> {
  let current: Encryption = new ResourceEncryption();
  await followText(
    source,
    async (text) => {
      current = await readEncryptionConfiguration(text, domains);
    },
    following,
  );
  return {
    writesAs: (key) => current.writesAs(key),
    encrypt: (key, document) => current.encrypt(key, document),
    decrypt: (key, kept) => current.decrypt(key, kept),
  };
}

/** Reads YAML or JSON. Unknown and repeated fields are refused. Throws Error with everything that is wrong. */
export async function readEncryptionConfiguration(text: string, domains: Domains): Promise<Encryption> {
  const { resources = [] } = decodeConfiguration(schema, await readYaml(text), {
    kind: 'EncryptionConfiguration',
    versions: [`apiserver.config.${domains.api}/v1`],
  }) as { readonly resources?: readonly ResourceConfiguration[] };
  const violations =
    resources.length === 0
      ? [required('resources', 'at least one resources is required')]
      : ofEach(resources, (one, at) => checkRule(one, index('resources', at)));
  if (violations.length > 0) {
    throw new Error(violations.map(({ field: path, body }) => `${path}: ${body}`).join('; '));
  }
  return new ResourceEncryption(await providersByResource(resources, domains));
}

function checkRule({ resources = [], providers = [] }: ResourceConfiguration, path: string): readonly Violation[] {
  const [ofResources, ofProviders] = [child(path, 'resources'), child(path, 'providers')];
  const missing = (at: string): Violation => required(at, `at least one ${at} is required`);
  return [
    ...(resources.length === 0 ? [missing(ofResources)] : []),
    ...checkOverlap(resources, ofResources),
    ...ofEach(resources, (name, at) => checkResource(name, index(ofResources, at))),
    ...(providers.length === 0 ? [missing(ofProviders)] : []),
    ...ofEach(providers, (one, at) => checkProvider(one, index(ofProviders, at))),
  ];
}

interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** `secrets`, `*.` and `deployments.apps` name a resource before the first dot and a group after it. */
function groupResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
}

function checkOverlap(texts: readonly string[], path: string): readonly Violation[] {
  const all = texts.map(groupResource);
  const isSame = (one: GroupResource, other: GroupResource): boolean =>
    one.group === other.group && one.resource === other.resource;
  const isEverything = ({ group, resource }: GroupResource): boolean => group === '*' && resource === '*';
  const masks = (one: GroupResource, other: GroupResource): boolean =>
    isEverything(one) || (one.group === other.group && (one.resource === '*' || other.resource === '*'));
  const pairs = all.flatMap((one, at) => all.slice(at + 1).map((other) => [one, other] as const));
  return [
    ...(pairs.some(([one, other]) => isSame(one, other))
      ? [invalid(path, texts, 'the same resource cannot be specified multiple times')]
      : []),
    ...(pairs.some(([one, other]) => !isSame(one, other) && (masks(one, other) || masks(other, one)))
      ? [
          invalid(
            path,
            texts,
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
          ),
        ]
      : []),
  ];
}

function checkResource(name: string, path: string): readonly Violation[] {
  const { group, resource } = groupResource(name);
  if (name.toLowerCase() !== name) return [invalid(path, name, 'resource name should not contain capital letters')];
  if (name === '*') {
    return [
      invalid(path, name, "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
    ];
  }
  if (group === 'events.k8s.io') {
    return [
      invalid(
        path,
        name,
        "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
      ),
    ];
  }
  if (group === '*' && resource !== '*')
    return [invalid(path, name, 'encrypting the same resource across groups is not supported')];
  return [];
}

function checkProvider(given: ProviderConfiguration, path: string): readonly Violation[] {
  const names = [...keyedNames, 'identity' as const].filter((name) => given[name] !== undefined);
  const [name] = names;
  if (name === undefined) {
    return [
      invalidText(
        path,
        '{}',
        'provider does not contain any of the expected providers: AESGCM, AESCBC, Secretbox, Identity',
      ),
    ];
  }
  if (names.length > 1) {
    const text = names.join(', ');
    return [
      invalidText(
        path,
        text,
        'more than one provider specified in a single element, should split into different list elements',
      ),
    ];
  }
  if (name === 'identity') return [];
  const at = child(path, name, 'keys');
  const { keys = [] } = given[name] ?? {};
  if (keys.length === 0) return [required(at, 'at least one keys is required')];
  return ofEach(keys, (one, number) => checkKey(one, index(at, number), keyed[name].lengths));
}

/** The secret is never shown. */
function checkKey({ name, secret }: Key, path: string, lengths: readonly number[]): readonly Violation[] {
  const mandatory = (member: string): Violation =>
    required(child(path, member), `${member} is a mandatory field for a key`);
  const unnamed = name ? [] : [mandatory('name')];
  if (!secret) return [...unnamed, mandatory('secret')];
  const wrong = (why: string): Violation => invalid(child(path, 'secret'), 'REDACTED', why);
  const canonical = canonicalBase64(secret);
  if (typeof canonical !== 'string') return [...unnamed, wrong('secrets must be base64 encoded')];
  const { length } = Buffer.from(canonical, 'base64');
  if (lengths.includes(length)) return unnamed;
  const expected = `[${lengths.join(' ')}]`;
  return [...unnamed, wrong(`secret is not of the expected length, got ${length}, expected one of ${expected}`)];
}

type Providers = readonly [Provider, ...Provider[]];

/** As the store's keys name resources. A resource in several rules has the providers of all, those of the first one first. */
async function providersByResource(
  rules: readonly ResourceConfiguration[],
  domains: Domains,
): Promise<ReadonlyMap<string, Providers>> {
  const found = new Map<string, Providers>();
  for (const { resources = [], providers = [] } of rules) {
    const made = (await Promise.all(providers.map(providersOf))).flat();
    for (const name of resources) {
      const { group, resource } = groupResource(name);
      for (const wider of [`*.${group}`, '*.*']) {
        if (name === wider || !found.has(storedAs(groupResource(wider)))) continue;
        throw new Error(`resource "${name}" is masked by earlier rule "${wider}"`);
      }
      for (const home of new Set([group, atHome(group, domains)])) {
        const at = storedAs({ group: home, resource });
        found.set(at, [...(found.get(at) ?? []), ...made] as [Provider, ...Provider[]]);
      }
    }
  }
  return found;
}

const storedAs = ({ group, resource }: GroupResource): string => `${group === '' ? 'core' : group}/${resource}`;

/** Built-in groups are stored under their names in the default domain. */
const atHome = (group: string, { api }: Domains): string =>
  group.endsWith(`.${api}`) ? `${group.slice(0, -api.length)}${defaultDomains.api}` : group;

async function providersOf(given: ProviderConfiguration): Promise<readonly Provider[]> {
  const name = keyedNames.find((one) => given[one] !== undefined);
  if (name === undefined) return [identity];
  const make = await keyed[name].load();
  const { keys = [] } = given[name] ?? {};
  return keys.map(({ name: keyName = '', secret = '' }) =>
    make(`${encryptedPrefix}${name}:v1:${keyName}:`, Buffer.from(secret, 'base64')),
  );
}
