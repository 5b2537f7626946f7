import { goJson } from '../api/go-text.js';
import type { JsonObject } from '../api/object.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';

type Versions = NonNullable<ResourceDefinition['versions']>;

/** Thrown when work needs an object that a webhook must convert first. */
class Unconverted extends Error {
  override readonly name = 'Unconverted';
  readonly key: string;
  readonly object: JsonObject;
  readonly to: string;
  constructor(key: string, object: JsonObject, to: string) {
    super(`an object is to be converted to ${to}`);
    this.key = key;
    this.object = object;
    this.to = to;
  }
}

/**
 * The maximum number of objects that are converted for one piece of work. An object has at most that many versions and
 * owners.
 */
const mostConversions = 200;

/**
 * Runs synchronous work that converts objects between versions. If a webhook converts, the work is restarted after each
 * conversion, so it must be free of side effects.
 */
export async function withVersions<R>(
  { versions }: Pick<ResourceDefinition, 'versions'>,
  work: (versions: Versions | undefined) => Promise<R>,
): Promise<R> {
  if (versions?.convertRemotely === undefined) return work(versions);
  const known = new Map<string, JsonObject>();
  const remembering: Versions = {
    convert(object, apiVersion) {
      const found = versions.convert(object, apiVersion);
      if (found === undefined || object['apiVersion'] === apiVersion) return found;
      const key = `${apiVersion} ${goJson(object)}`;
      const converted = known.get(key);
      if (converted === undefined) throw new Unconverted(key, object, apiVersion);
      return { ...found, object: converted };
    },
  };
  for (;;) {
    try {
      return await work(remembering);
    } catch (error) {
      if (!(error instanceof Unconverted) || known.size >= mostConversions) throw error;
      known.set(error.key, await versions.convertRemotely(error.object, error.to));
    }
  }
}
