import { badRequest, untyped } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import type { LabelSelector } from '../api/label-selectors.js';
import { messageOf } from '../api/message-of.js';
import type { ApiObject } from '../api/object.js';
import type { ListParameters } from '../api/options.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { runInTurns } from '../runtime/turn-taking.js';
import { parseShardSelector, type ShardSelector } from './shard-selector.js';

/** The selection of objects in a collection. */
export interface Selection {
  /** Whether every object is selected, so that none needs to be read. */
  readonly everything: boolean;
  /** The shard selector in its normal form, if there is one. */
  readonly shard: string | undefined;
  /** The name of the only objects that can match, if there is one. */
  readonly name: string | undefined;
  /** The namespace of the only objects that can match, if there is one. */
  readonly namespace: string | undefined;
  readonly labels: LabelSelector | undefined;
  /** Whether the selection depends only on labels. */
  readonly byLabelsAlone: boolean;
  matches(object: ApiObject): boolean;
}

type Getter = (object: ApiObject) => string;

/**
 * Combines the selectors of a request, and checks that the kind supports their fields. `name` is that of the object in
 * the path. Throws ApiError.
 */
export function readSelection(
  definition: ResourceDefinition,
  { labels, fields }: Pick<ListParameters, 'labels' | 'fields'>,
  shard?: ShardSelector,
  name?: string,
): Selection {
  const terms = (fields?.requirements ?? []).map(({ field, operator, value }) => ({
    get: getterOf(definition, field),
    wanted: operator !== '!=',
    value,
  }));
  const byName = fields?.exactly('metadata.name');
  if (name !== undefined && terms.length > 0 && byName !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return {
    everything: (labels === undefined || labels.empty) && terms.length === 0 && name === undefined && !shard,
    shard: shard?.text,
    name: name ?? byName,
    namespace: fields?.exactly('metadata.namespace'),
    labels,
    byLabelsAlone: terms.length === 0 && name === undefined && !shard,
    matches: (object) =>
      (name === undefined || object.metadata.name === name) &&
      (labels === undefined || labels.matches(object.metadata.labels)) &&
      (shard === undefined || shard.matches(object)) &&
      terms.every(({ get, wanted, value }) => (get(object) === value) === wanted),
  };
}

/**
 * Parses `shardSelector`, in turns with other work, because finding the error in an invalid one may take long. Rejects
 * with ApiError.
 */
export async function readShardSelector(text: string): Promise<ShardSelector> {
  try {
    return await runInTurns(parseShardSelector(text));
  } catch (error) {
    throw untyped(`invalid shard selector: ${messageOf(error)}`);
  }
}

function getterOf(definition: ResourceDefinition, field: string): Getter {
  if (field === 'metadata.name') return (object) => object.metadata.name ?? '';
  const own = definition.selectableFields;
  if (own !== undefined && Object.hasOwn(own, field)) return own[field] as Getter;
  const knowsNamespace = definition.selectsNamespace ?? (definition.namespaced || own === undefined);
  if (field === 'metadata.namespace' && knowsNamespace) return (object) => object.metadata.namespace ?? '';
  throw badRequest(
    own === undefined && definition.origin === 'built-in'
      ? `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}
