import { goJson } from '../api/go-text.js';
import { Namespaces } from '../api/kinds/namespace.js';
import { isType, member, type ResourceType } from '../api/object.js';
import { type Query, selectedName } from '../api/options.js';
import { checkRequestPath } from '../api/request-keys.js';
import type { UserInfo } from '../api/user.js';
import type { FieldValidation } from '../client/client.js';
import type { QueryParameters } from '../client/request-options.js';
import type { ApiRequest, RequestInfo } from './request.js';

/** One call of a client in the server's own process. */
export interface LocalCall {
  readonly verb: string;
  readonly method: string;
  readonly type: ResourceType;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly query?: QueryParameters;
  readonly body?: unknown;
  readonly contentType?: string | undefined;
}

/** The identity and defaults of a caller in this process. */
export interface LocalCaller {
  readonly user: UserInfo;
  /** The name that is recorded as the field manager if the call names none. */
  readonly agent: string;
  readonly signal: AbortSignal;
  readonly fieldValidation?: FieldValidation | undefined;
}

/** Returns the request that a call over HTTP would be parsed into. Throws BadRequest if no URL can express the call. */
export function requestOf(call: LocalCall, { user, agent, signal, fieldValidation }: LocalCaller): ApiRequest {
  const isRead = call.verb === 'list' || call.verb === 'watch';
  checkRequestPath({ ...call, isInOne: call.type.namespaced && !isRead });
  const { verb, method, type, namespace = '', name = '', subresource = '', query = {}, body, contentType } = call;
  const isOfNamespaces = isType(type, Namespaces);
  const path = `/${type.group === '' ? 'api' : `apis/${type.group}`}/${type.version}/${namespace ? `namespaces/${namespace}/` : ''}${type.plural}${name && `/${name}`}${subresource && `/${subresource}`}`;
  const queryValue = (key: string): string | undefined => {
    const own = member(query, key);
    const value = own ?? (key === 'fieldValidation' ? fieldValidation : undefined);
    return value === undefined ? undefined : String(value);
  };
  const fieldSelector = queryValue('fieldSelector');
  const labelSelector = queryValue('labelSelector');
  const asQuery: Query = {
    get: queryValue,
    all: (key) => {
      const value = queryValue(key);
      return value === undefined ? [] : [value];
    },
  };
  const info: RequestInfo = {
    isResource: true,
    path,
    verb,
    group: type.group,
    version: type.version,
    resource: type.plural,
    subresource,
    // As in a URL, the namespace of a Namespace is its own name.
    namespace: namespace || (isOfNamespaces ? name : ''),
    name: name || (isRead ? selectedName(asQuery) : ''),
    hasExtraSegments: isOfNamespaces && Boolean(namespace),
    namespaceIsEmpty: false,
    watchedByPath: false,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
  const headers: Readonly<Record<string, string | undefined>> = { 'user-agent': agent, 'content-type': contentType };
  const bytes = Buffer.from(body === undefined ? '' : goJson(body));
  return {
    info,
    method,
    query: asQuery,
    uri: path,
    header: (key) => headers[key],
    caller: { user },
    body: async () => ({ bytes, contentType, isTrusted: true }),
    signal,
  };
}
