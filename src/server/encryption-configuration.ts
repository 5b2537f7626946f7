import { canonicalBase64 } from '../api/base64.js';
import { type Domains, defaultDomains } from '../api/domains.js';
import { parseDuration } from '../api/go-duration.js';
import { child, index, invalid, invalidText, required, type Violation, validateEach } from '../api/violations.js';
import { readYaml } from '../api/yaml.js';
import { field, list, optional, string, struct } from '../schema/builder.js';
import { checkConfiguration, configurationVersions, decodeConfiguration } from '../schema/configuration-file.js';

/** Reads the file that configures the encryption of stored objects: kind EncryptionConfiguration of Kubernetes. */

const key = struct('Key', { name: field(1, string()), secret: field(2, string()) });
const keys = (go: string) => struct(go, { keys: field(1, list(key)) });
const provider = struct('ProviderConfiguration', {
  aesgcm: optional(1, keys('AESConfiguration')),
  aescbc: optional(2, keys('AESConfiguration')),
  secretbox: optional(3, keys('SecretboxConfiguration')),
  identity: optional(4, struct('IdentityConfiguration', {})),
  kms: optional(
    5,
    struct('KMSConfiguration', {
      apiVersion: field(1, string()),
      name: field(2, string()),
      endpoint: field(3, string()),
      timeout: field(4, string()),
    }),
  ),
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

/** One provider of encryption. */
export type ConfiguredProvider =
  | { readonly type: 'identity' }
  | { readonly type: KeyedName; readonly keys: readonly { readonly name: string; readonly secret: Buffer }[] }
  | { readonly type: 'kms'; readonly name: string; readonly endpoint: string; readonly timeoutMs: number };

/** Names resources as the store's keys do: `<group>/<plural>`, with stars for all. */
export interface EncryptionRule {
  readonly resources: readonly string[];
  readonly providers: readonly ConfiguredProvider[];
}

export type KeyedName = 'aesgcm' | 'aescbc' | 'secretbox';
interface Key {
  readonly name?: string;
  readonly secret?: string;
}
interface Kms {
  readonly apiVersion?: string;
  readonly name?: string;
  readonly endpoint?: string;
  readonly timeout?: string;
}
type ProviderEntry = Readonly<Partial<Record<KeyedName, { readonly keys?: readonly Key[] }>>> & {
  readonly identity?: object;
  readonly kms?: Kms;
};
interface RuleEntry {
  readonly resources?: readonly string[];
  readonly providers?: readonly ProviderEntry[];
}

/** The allowed lengths of keys in bytes. */
const lengths: Readonly<Record<KeyedName, readonly number[]>> = {
  aesgcm: [16, 24, 32],
  aescbc: [16, 24, 32],
  secretbox: [32],
};
const keyedNames = Object.keys(lengths) as readonly KeyedName[];
const providerNames = ['kms', ...keyedNames, 'identity'] as const;
const defaultTimeout = '3s';

/** Parses YAML or JSON. Unknown and repeated fields are rejected. Throws Error with all problems. */
export async function readEncryptionConfiguration(text: string, domains: Domains): Promise<readonly EncryptionRule[]> {
  const { resources = [] } = decodeConfiguration(schema, await readYaml(text), {
    kind: 'EncryptionConfiguration',
    versions: configurationVersions(domains, ['v1']),
  }) as { readonly resources?: readonly RuleEntry[] };
  checkConfiguration(
    resources.length === 0
      ? [required('resources', 'at least one resources is required')]
      : [...validateEach(resources, (one, at) => checkRule(one, index('resources', at))), ...checkNames(resources)],
  );
  checkMasked(resources);
  return resources.map(({ resources: names = [], providers = [] }) => ({
    resources: names.flatMap((name) => storedAs(groupResource(name), domains)),
    providers: providers.map(readProvider),
  }));
}

function checkRule({ resources = [], providers = [] }: RuleEntry, path: string): readonly Violation[] {
  const [ofResources, ofProviders] = [child(path, 'resources'), child(path, 'providers')];
  const missing = (at: string): Violation => required(at, `at least one ${at} is required`);
  return [
    ...(resources.length === 0 ? [missing(ofResources)] : []),
    ...checkOverlap(resources, ofResources),
    ...validateEach(resources, (name, at) => checkResource(name, index(ofResources, at))),
    ...(providers.length === 0 ? [missing(ofProviders)] : []),
    ...validateEach(providers, (one, at) => checkProvider(one, index(ofProviders, at))),
  ];
}

interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** Parses the name of a resource, such as `secrets`, `*.` or `deployments.apps`: the group follows the first dot. */
function groupResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { group: '', resource: text } : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
}

/** Returns the resource under its name in the store, where built-in groups have the default domain. */
function storedAs({ group, resource }: GroupResource, { api }: Domains): readonly string[] {
  const home = group.endsWith(`.${api}`) ? `${group.slice(0, -api.length)}${defaultDomains.api}` : group;
  return [...new Set([group, home])].map((name) => `${name === '' ? 'core' : name}/${resource}`);
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
  const wrong = (message: string): readonly Violation[] => [invalid(path, name, message)];
  if (name.toLowerCase() !== name) return wrong('resource name should not contain capital letters');
  if (name === '*')
    return wrong("use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources");
  if (group === 'events.k8s.io') {
    return wrong(
      "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
    );
  }
  if (group === '*' && resource !== '*') return wrong('encrypting the same resource across groups is not supported');
  return [];
}

/** Returns the violations by resources that an earlier rule covers already. */
function checkMasked(rules: readonly RuleEntry[]): void {
  const earlier = new Set<string>();
  for (const { resources = [] } of rules) {
    for (const name of resources) {
      const wider = [`*.${groupResource(name).group}`, '*.*'].find((one) => one !== name && earlier.has(one));
      if (wider !== undefined) throw new Error(`resource "${name}" is masked by earlier rule "${wider}"`);
      earlier.add(name);
    }
  }
}

function checkProvider(provider: ProviderEntry, path: string): readonly Violation[] {
  const names = providerNames.filter((name) => provider[name] !== undefined);
  const [name] = names;
  if (name === undefined) {
    const expected = 'KMS, AESGCM, AESCBC, Secretbox, Identity';
    return [invalidText(path, '{}', `provider does not contain any of the expected providers: ${expected}`)];
  }
  if (names.length > 1) {
    const problem = 'more than one provider specified in a single element, should split into different list elements';
    return [invalidText(path, names.join(', '), problem)];
  }
  if (name === 'identity') return [];
  if (name === 'kms') return checkKms(provider.kms ?? {}, child(path, 'kms'));
  const at = child(path, name, 'keys');
  const { keys = [] } = provider[name] ?? {};
  if (keys.length === 0) return [required(at, 'at least one keys is required')];
  return validateEach(keys, (one, number) => checkKey(one, index(at, number), lengths[name]));
}

const mandatory = (path: string, member: string, of: string): Violation =>
  required(child(path, member), `${member} is a mandatory field for a ${of}`);

/** Checks a key; errors never contain the secret. */
function checkKey({ name, secret }: Key, path: string, expected: readonly number[]): readonly Violation[] {
  const unnamed = name ? [] : [mandatory(path, 'name', 'key')];
  if (!secret) return [...unnamed, mandatory(path, 'secret', 'key')];
  const wrong = (message: string): Violation => invalid(child(path, 'secret'), 'REDACTED', message);
  const canonical = canonicalBase64(secret);
  if (typeof canonical !== 'string') return [...unnamed, wrong('secrets must be base64 encoded')];
  const { length } = Buffer.from(canonical, 'base64');
  if (expected.includes(length)) return unnamed;
  const problem = `secret is not of the expected length, got ${length}, expected one of [${expected.join(' ')}]`;
  return [...unnamed, wrong(problem)];
}

function checkKms({ apiVersion = '', name = '', endpoint = '', timeout }: Kms, path: string): readonly Violation[] {
  const wrongName = invalid(child(path, 'name'), name, `invalid KMS provider name ${name}, must not contain ':'`);
  const time = parseDuration(timeout ?? defaultTimeout);
  const wrongTime = time.wrong ?? (time.nanoseconds > 0n ? undefined : 'timeout should be a positive value');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(endpoint)?.[1] ?? '';
  const wrongScheme = `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`;
  const wrongVersion = `unsupported apiVersion ${apiVersion || '""'} for KMS provider, only v2 is supported`;
  return [
    ...(name === '' ? [mandatory(path, 'name', 'provider')] : []),
    ...(name.includes(':') ? [wrongName] : []),
    ...(wrongTime === undefined ? [] : [invalid(child(path, 'timeout'), timeout ?? '', wrongTime)]),
    ...(endpoint === '' ? [mandatory(path, 'endpoint', 'kms')] : []),
    ...(endpoint !== '' && scheme !== 'unix' ? [invalid(child(path, 'endpoint'), endpoint, wrongScheme)] : []),
    ...(apiVersion === 'v2' ? [] : [invalid(child(path, 'apiVersion'), apiVersion, wrongVersion)]),
  ];
}

/** Checks that the names of key services are unique, because stored data refers to them. */
function checkNames(rules: readonly RuleEntry[]): readonly Violation[] {
  const known = new Set<string>();
  return validateEach(rules, ({ providers = [] }, rule) =>
    validateEach(providers, ({ kms }, at) => {
      const { name } = kms ?? {};
      if (!name) return [];
      const path = child(index(child(index('resources', rule), 'providers'), at), 'kms', 'name');
      if (known.has(name)) return [invalid(path, name, `duplicate KMS provider name ${name}, names must be unique`)];
      known.add(name);
      return [];
    }),
  );
}

function readProvider(provider: ProviderEntry): ConfiguredProvider {
  if (provider.kms !== undefined) {
    const { name = '', endpoint = '', timeout = defaultTimeout } = provider.kms;
    const time = parseDuration(timeout);
    return { type: 'kms', name, endpoint, timeoutMs: time.wrong === undefined ? time.milliseconds : 0 };
  }
  const type = keyedNames.find((one) => provider[one] !== undefined);
  if (type === undefined) return { type: 'identity' };
  const { keys = [] } = provider[type] ?? {};
  return {
    type,
    keys: keys.map(({ name = '', secret = '' }) => ({ name, secret: Buffer.from(secret, 'base64') })),
  };
}
