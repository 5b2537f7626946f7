import { messageOf } from '../api/message-of.js';
import { readLimited } from '../runtime/read-limited.js';
import { type Configuration, defaults } from './configuration-options.js';

/** Thrown for an error in the user's configuration; the message is one sentence for people. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The options that flags can set, whose values the command line has checked. */
export interface Flags {
  readonly host?: string;
  readonly port?: number;
  readonly servingNames?: string[];
  readonly dataDir?: string;
  readonly store?: string;
  readonly controllers?: 'all' | string[];
  readonly logLevel?: Configuration['logLevel'];
  readonly logFormat?: 'pretty' | 'json';
}

/**
 * Reads the configuration: the file (if any), overridden by the flags, checked, with defaults. Throws
 * ConfigurationError. The package that checks files is loaded only for a file: loading it takes longer than starting a
 * server.
 */
export async function readConfiguration(file: string | undefined, flags: Flags): Promise<Configuration> {
  if (file === undefined) return { ...defaults, ...flags };
  const [fromFile, { configuration }] = await Promise.all([
    readConfigurationFile(file),
    import('./configuration-schema.js'),
  ]);
  const result = configuration.safeParse({ ...fromFile, ...flags });
  if (result.success) return result.data;
  throw new ConfigurationError(`${file}: ${problemsOf(result.error.issues)}`);
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The unknown members of an object, if that is the issue. */
  readonly keys?: readonly string[];
}

/** Returns the problems, one for each option with its path: `port: must be …; servingNames[0]: must be …`. */
export const problemsOf = (issues: readonly Issue[]): string =>
  issues
    .flatMap(({ path, message, keys }): readonly Issue[] =>
      keys === undefined ? [{ path, message }] : keys.map((key) => ({ path: [...path, key], message: 'is unknown' })),
    )
    .map(({ path, message }) => (path.length === 0 ? message : `${pathText(path)}: ${message}`))
    .join('; ');

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((at) => (typeof at === 'number' ? `[${at}]` : `.${String(at)}`))
    .join('')
    .replace(/^\./, '');

async function readConfigurationFile(file: string): Promise<object> {
  let bytes: Buffer;
  try {
    bytes = await readLimited(file);
  } catch (error) {
    throw new ConfigurationError(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code ?? messageOf(error)}`);
  }
  const { readStrictYaml } = await import('../api/yaml.js');
  try {
    const value = await readStrictYaml(bytes);
    if (value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) throw new Error('must be a mapping of options');
    return value;
  } catch (error) {
    throw new ConfigurationError(`${file}: ${messageOf(error)}`);
  }
}
