import { dirname, isAbsolute, resolve } from 'node:path';
import { isObject, type JsonObject } from '../api/object.js';
import { decodeText } from '../api/yaml-text.js';
import type { Clock } from '../runtime/clock.js';
import { displayPath, pathErrorCause } from '../runtime/display-path.js';
import { readLimited, readLimitedText } from '../runtime/read-limited.js';
import { AccessError } from './cluster-access.js';
import type { ExecPlugin } from './exec-credential.js';

/** The contents of kubeconfig files. */

export interface NamedEntry<T> {
  readonly name: string;
  readonly value: T;
  /** The directory of its file, for relative paths. */
  readonly directory: string;
}

export interface Cluster {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
  readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[] | null | undefined;
}

export interface User {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecPlugin;
  readonly 'auth-provider'?: { readonly name?: string };
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
}

interface Context {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

export interface Kubeconfig {
  readonly clusters: readonly NamedEntry<Cluster>[];
  readonly users: readonly NamedEntry<User>[];
  readonly contexts: readonly NamedEntry<Context>[];
  readonly currentContext: string;
  /** The text of the file with the current context, for another parser. */
  readonly text: string;
}

export interface KubeconfigOptions {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** Name of the context; the current context by default. */
  readonly context?: string | undefined;
}

export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return decodeText(await readLimited(path));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new AccessError(`cannot read the kubeconfig ${displayPath(path)}`, pathErrorCause(path, cause));
  }
}

/**
 * Parses the text of a kubeconfig file. Relative paths in it refer to the directory of `path`. Fails with AccessError.
 */
export async function parseKubeconfig(text: string, path: string): Promise<Kubeconfig> {
  const config = await parse(text, path);
  const directory = dirname(resolve(path));
  const named = <T>(list: string, member: string): readonly NamedEntry<T>[] => {
    const items: unknown = config[list];
    return (Array.isArray(items) ? items : []).filter(isObject).flatMap((item) => {
      // An entry with a name only is accepted, as in client-go.
      const { name, [member]: value } = item;
      const content = value ?? {};
      return typeof name === 'string' && isObject(content) ? [{ name, value: content as T, directory }] : [];
    });
  };
  const current = config['current-context'];
  return {
    clusters: named<Cluster>('clusters', 'cluster'),
    users: named<User>('users', 'user'),
    contexts: named<Context>('contexts', 'context'),
    currentContext: typeof current === 'string' ? current : '',
    text,
  };
}

async function parse(text: string, path: string): Promise<JsonObject> {
  const { maxYamlBytes, readYaml } = await import('../api/yaml.js');
  let value: unknown;
  try {
    ({ value } = await readYaml(text));
  } catch (cause) {
    const limit = text.length > maxYamlBytes ? ` of at most ${maxYamlBytes} bytes` : '';
    throw new AccessError(`the kubeconfig ${path} is neither YAML${limit} nor JSON`, { cause });
  }
  if (!isObject(value)) throw new AccessError(`the kubeconfig ${path} is not an object`);
  return value;
}

/** Merges several files: the first entry with a name counts. */
export const merge = (configs: readonly Kubeconfig[]): Kubeconfig => {
  const deciding = configs.find(({ currentContext }) => currentContext !== '') ?? configs[0];
  return {
    clusters: configs.flatMap(({ clusters }) => clusters),
    users: configs.flatMap(({ users }) => users),
    contexts: configs.flatMap(({ contexts }) => contexts),
    currentContext: deciding?.currentContext ?? '',
    text: deciding?.text ?? '',
  };
};

/** Returns the first entry with this name. Throws AccessError if there is none. */
export function findNamed<T>(list: readonly NamedEntry<T>[], name: string | undefined, kind: string): NamedEntry<T> {
  const found = list.find((item) => item.name === name);
  if (found === undefined) throw new AccessError(`the kubeconfig has no ${kind} ${JSON.stringify(name ?? '')}`);
  return found;
}

/** Returns data that is inline in the kubeconfig, or read from the file that it names. Fails with AccessError. */
export async function inlineOrFile(
  inline: string | undefined,
  path: string | undefined,
  directory: string,
  label: string,
): Promise<string | undefined> {
  if (inline) return Buffer.from(inline, 'base64').toString('utf8');
  if (!path) return undefined;
  const absolute = isAbsolute(path) ? path : resolve(directory, path);
  try {
    return await readLimitedText(absolute);
  } catch (cause) {
    throw new AccessError(`cannot read ${label} ${displayPath(absolute)}`, pathErrorCause(absolute, cause));
  }
}
