import type { Json, JsonObject } from '../api/object.js';
import { serviceAccountGroups, serviceAccountUsername, type UserInfo } from '../api/user.js';
import type { Authorizer } from '../auth/authorizer.js';
import { jsonValue } from '../cel/json-values.js';
import {
  authorizerValue,
  type CheckDecision,
  type CheckedAttributes,
  type Decide,
  DecisionNeeded,
  requestResourceValue,
} from '../cel/library/authorizer.js';
import type { Value } from '../cel/values.js';
import type { AdmissionAttributes } from './admission-step.js';
import { nameOf } from './admission-subject.js';
import { namespaceOf } from './webhooks/versioned-attributes.js';

/** Returns the value of a variable of expressions by its name; undefined if there is none. */
export type Variables = (name: string) => Value | undefined;

/** Returns the variables of expressions about a request. `json` converts objects to what expressions see. */
export function requestVariables(
  attributes: AdmissionAttributes,
  /** The decisions of the authorizer; if undefined, `authorizer` is not available. */
  decisions: AuthorizerDecisions | undefined,
  json: {
    readonly object: Json;
    readonly oldObject: Json;
    readonly request: JsonObject;
    /** Absent: there is no such variable. */
    readonly namespaceObject?: Json;
    /** Absent: there is no such variable. */
    readonly params?: Json;
  },
): Variables {
  const { resource, subresource = '' } = attributes;
  const variables = new Map<string, Value>([
    ['object', jsonValue(json.object)],
    ['oldObject', jsonValue(json.oldObject)],
    ['request', jsonValue(json.request)],
    ['namespaceObject', jsonValue(json.namespaceObject ?? null)],
  ]);
  if (json.params !== undefined) variables.set('params', jsonValue(json.params));
  if (decisions !== undefined) {
    const { decide } = decisions;
    variables.set('authorizer', authorizerValue(decide));
    variables.set(
      'authorizer.requestResource',
      requestResourceValue(decide, {
        group: resource.group,
        resource: resource.plural,
        subresource,
        namespace: namespaceOf(attributes),
        name: nameOf(attributes),
      }),
    );
  }
  return (name) => variables.get(name);
}

/** The decisions of the authorizer that expressions request while they are evaluated. */
export class AuthorizerDecisions {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;
  readonly #known = new Map<string, CheckDecision>();

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  readonly decide: Decide = (attributes) => this.#known.get(JSON.stringify(attributes));

  /** Runs synchronous work that may need decisions. It is run again after each decision that was not known yet. */
  async during<T>(act: () => T): Promise<T> {
    for (;;) {
      try {
        return act();
      } catch (error) {
        if (!(error instanceof DecisionNeeded)) throw error;
        this.#known.set(JSON.stringify(error.attributes), await this.#ask(error.attributes));
      }
    }
  }

  async #ask({ serviceAccount, verb, path, resource }: CheckedAttributes): Promise<CheckDecision> {
    const user: UserInfo =
      serviceAccount === undefined
        ? this.#user
        : {
            username: serviceAccountUsername(serviceAccount.namespace, serviceAccount.name),
            groups: serviceAccountGroups(serviceAccount.namespace),
          };
    const { verdict, reason, error } = await this.#authorizer.authorize({
      user,
      verb,
      ...(path === undefined ? {} : { path }),
      group: resource?.group ?? '',
      version: resource === undefined ? '' : '*',
      resource: resource?.resource ?? '',
      ...optionalMember('subresource', resource?.subresource),
      ...optionalMember('namespace', resource?.namespace),
      ...optionalMember('name', resource?.name),
      ...optionalMember('fieldSelector', resource?.fieldSelector),
      ...optionalMember('labelSelector', resource?.labelSelector),
    });
    return { allowed: verdict === 'allow', reason, ...(error === undefined ? {} : { error }) };
  }
}

const optionalMember = <N extends string>(name: N, text: string | undefined): { readonly [K in N]?: string } =>
  (text ? { [name]: text } : {}) as { readonly [K in N]?: string };
