import { badRequest, untyped } from '../api/errors.js';
import { quote } from '../api/go-text.js';
import type { ApiObject } from '../api/object.js';
import {
  checkListParameters,
  type ListParameters,
  readDeleteParameters,
  readListParameters,
  readWriteParameters,
} from '../api/options.js';
import type { UserInfo } from '../api/user.js';
import type {
  Caller,
  RequestContext,
  ResourceDefinition,
  SubresourceAction,
  WebhookStage,
} from '../registry/resource-definition.js';
import { subresourceDefinition } from '../registry/subresource.js';
import { readObject } from './bodies.js';
import { checkMediaType } from './body-format.js';
import { readDeleteBody } from './delete-options.js';
import { pageNotFound } from './health.js';
import { negotiate, readIncludeObject, requireStream } from './negotiate.js';
import { requestTimeout } from './operations/deadlines.js';
import type { Parts } from './parts.js';
import { patchTypeOf } from './patch/index.js';
import { type ApiRequest, plainJson, type Representation, type RequestInfo, type Result } from './request.js';
import { resolveTarget, type Target } from './resolve-target.js';
import { readSelection, readShardSelector } from './selection.js';
import type { ShardSelector } from './shard-selector.js';
import { deleteObject } from './verbs/delete.js';
import { deleteCollection } from './verbs/delete-collection.js';
import { getObject } from './verbs/get.js';
import { listObjects } from './verbs/list.js';
import { patchObject } from './verbs/patch.js';
import { putObject } from './verbs/put.js';
import { checkConvertible, watchObjects } from './verbs/watch.js';
import { admitAction } from './write/action.js';
import { createObject } from './write/create.js';
import { longestWriteMs, objectKeyOf, resultOf, type WriteRequest, writeRequest } from './write/request.js';

export interface Answer {
  readonly result: Result;
  readonly representation: Representation;
}

/**
 * Runs an authorized request for a resource: finds the definition, negotiates the form of the response, and runs the
 * verb.
 */
export async function runResourceRequest(
  parts: Parts,
  request: ApiRequest,
  user: UserInfo,
  warn: (text: string) => void,
): Promise<Answer> {
  const { info } = request;
  const target = resolveTarget(parts.catalogue.current(), info, request.method, warn);
  if (target === 'page-not-found') return { result: pageNotFound, representation: plainJson };
  const { definition, subresource } = target;
  if (definition.deprecation !== undefined) request.record?.deprecated();
  // An unsupported patch type is reported before anything else.
  if (info.verb === 'patch') {
    patchTypeOf(request.header('content-type'), definition.origin, request.header('accept'));
  }
  if (info.name === '' && (info.verb === 'update' || info.verb === 'patch')) throw badRequest('name must be provided');
  const representation = negotiate(request.header('accept'), {
    origin: definition.origin,
    verb: info.verb,
    collection: info.verb === 'list' || info.verb === 'watch',
    query: request.query,
    userAgent: request.header('user-agent'),
    tables:
      subresource?.type === 'view'
        ? subresource.tables !== false
        : subresource?.type !== 'action' && definition.answer === undefined,
  });
  const now = parts.clock.now();
  const context: RequestContext = {
    user,
    key: {
      namespace: definition.namespaced ? info.namespace : undefined,
      name: info.name === '' ? undefined : info.name,
    },
    subresource: info.subresource === '' ? undefined : info.subresource,
    now,
    warn,
    annotate:
      request.record === undefined
        ? undefined
        : (key, value, fromLevel) => request.record?.annotate(key, value, fromLevel),
    caller: new WaitingCaller(request, parts.clock.monotonic()),
  };
  const result = await runVerb(parts, request, target, context);
  const includeObject = readIncludeObject(representation, request.query);
  if (result.type === 'watch') requireStream(representation);
  return {
    result,
    representation: includeObject === 'Metadata' ? representation : { ...representation, includeObject },
  };
}

/**
 * The caller that waits for the response. Signal and deadline are computed when they are used, because most requests
 * never need them.
 */
class WaitingCaller implements Caller {
  readonly #request: ApiRequest;
  readonly #since: number;

  constructor(request: ApiRequest, now: number) {
    this.#request = request;
    this.#since = now;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get deadline(): number {
    return this.#since + requestTimeout(this.#request.query, longestWriteMs);
  }

  onWebhookLatency(stage: WebhookStage, milliseconds: number): void {
    this.#request.latencies?.took(stage, milliseconds);
  }
}

function runVerb(parts: Parts, request: ApiRequest, target: Target, context: RequestContext): Result | Promise<Result> {
  const { info, query } = request;
  const { definition, subresource } = target;
  checkNamespace(info, definition);
  switch (info.verb) {
    case 'get':
      return getObject(parts, request, target);
    case 'list': {
      const parameters = readListParameters(query);
      return inShard(parts, definition, parameters, (shard) =>
        listObjects(parts, collectionOf(request, definition, shard), parameters),
      );
    }
    case 'watch': {
      const parameters = readListParameters(query);
      const name = info.name || undefined;
      return inShard(parts, definition, { ...parameters, name }, (shard) => {
        const watched = { ...collectionOf(request, definition, shard), name };
        const result = watchObjects(parts, watched, parameters);
        return definition.codec?.remote === undefined ? result : checkConvertible(parts, watched).then(() => result);
      });
    }
    case 'create':
      if (subresource?.type === 'action') return performAction(parts, request, definition, subresource, context);
      return definition.answer === undefined
        ? create(parts, request, definition, context)
        : answer(parts, request, definition, context);
    case 'update':
      return putObject(parts, request, target, context);
    case 'patch':
      return patchObject(parts, request, target, context);
    case 'delete':
    case 'deletecollection':
      return remove(parts, request, definition, context);
    default:
      throw new Error(`verb ${JSON.stringify(info.verb)} has no implementation`);
  }
}

/**
 * Continues with the shard that the request selects, if shards are served. Other parameters are checked first, because
 * parsing the selector may take long.
 */
function inShard<T>(
  { featureGates }: Parts,
  definition: ResourceDefinition,
  parameters: ListParameters & { readonly name?: string | undefined },
  proceed: (shard?: ShardSelector) => T | Promise<T>,
): T | Promise<T> {
  const { shardSelector } = parameters;
  if (shardSelector === undefined || !featureGates.ShardedListAndWatch) return proceed();
  checkListParameters(parameters);
  readSelection(definition, parameters, undefined, parameters.name);
  return readShardSelector(shardSelector).then(proceed);
}

/**
 * Throws for the namespaces `.` and `..`, which cannot be part of a key. A create or update decodes its object first.
 */
function checkNamespace(
  { verb, namespace, name }: RequestInfo,
  { group, plural, origin, namespaced }: ResourceDefinition,
) {
  if ((namespace !== '.' && namespace !== '..') || !namespaced || verb === 'create' || verb === 'update') return;
  const key = [...(origin === 'custom' ? [group] : []), plural, namespace, ...(name === '' ? [] : [name])];
  throw untyped(`invalid key: ${quote(`/${key.join('/')}`)}`);
}

async function remove(
  parts: Parts,
  request: ApiRequest,
  definition: ResourceDefinition,
  context: RequestContext,
): Promise<Result> {
  const { info, query } = request;
  if (info.verb === 'deletecollection') {
    const selected = readListParameters(query);
    // Invalid selectors are reported before the body is read.
    checkListParameters(selected);
    readSelection(definition, selected);
    return inShard(parts, definition, selected, async (shard) => {
      const parameters = readDeleteParameters(query, await readDeleteBody(request));
      return deleteCollection(parts, collectionOf(request, definition, shard), selected, parameters, context);
    });
  }
  const parameters = readDeleteParameters(query, await readDeleteBody(request));
  return deleteObject(parts, { definition, parameters, context });
}

const collectionOf = (request: ApiRequest, definition: ResourceDefinition, shard?: ShardSelector) => ({
  definition,
  shard,
  namespace: definition.namespaced ? request.info.namespace : '',
  get signal() {
    return request.signal;
  },
});

async function create(
  parts: Parts,
  request: ApiRequest,
  definition: ResourceDefinition,
  context: RequestContext,
): Promise<Result> {
  const { object, write } = await readPosted(parts, request, definition, context);
  return resultOf(definition, await createObject(parts, write, object));
}

/** Reads the object in a POST and the parameters of the write. */
async function readPosted(
  parts: Parts,
  request: ApiRequest,
  definition: ResourceDefinition,
  context: RequestContext,
): Promise<{ readonly object: ApiObject; readonly write: WriteRequest }> {
  checkMediaType(request.header('content-type'), definition);
  const parameters = readWriteParameters(request.query, { kind: 'CreateOptions' });
  const object = await readObject(parts, request, definition, parameters, context);
  return {
    object,
    write: writeRequest(request, { definition, subresource: undefined }, context, parameters),
  };
}

/** Responds to a request for a kind that is not stored. It passes the same admission as a create. */
async function answer(
  parts: Parts,
  request: ApiRequest,
  definition: ResourceDefinition,
  context: RequestContext,
): Promise<Result> {
  const { object: sent, write } = await readPosted(parts, request, definition, context);
  const admitted = await admitAction(parts, write, sent);
  const object = await definition.answer?.(admitted, context);
  return { type: 'object', code: 201, definition, object: object ?? admitted };
}

/**
 * Responds to a request to a subresource that performs an action on an object, such as creating a token for a service
 * account.
 */
async function performAction(
  parts: Parts,
  request: ApiRequest,
  definition: ResourceDefinition,
  subresource: SubresourceAction,
  context: RequestContext,
): Promise<Result> {
  const actionDefinition = subresourceDefinition(definition, subresource.request);
  const { object: sent, write } = await readPosted(parts, request, actionDefinition, context);
  const key = objectKeyOf(context);
  const prepare = (object: ApiObject): Promise<ApiObject> => subresource.prepare(key, object, context);
  const admitted = await admitAction(parts, write, sent, definition, prepare);
  const object = await subresource.answer(key, admitted, context);
  return { type: 'object', code: 201, definition: actionDefinition, object };
}
