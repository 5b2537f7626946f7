import type { MatchCondition } from '../../api/kinds/webhook-configuration.js';
import type { Json, JsonObject } from '../../api/object.js';
import { serviceAccountGroups, serviceAccountUsername, type UserInfo } from '../../api/user.js';
import type { Authorizer } from '../../auth/authorizer.js';
import { compileCondition } from '../../cel/environments/admission.js';
import { jsonValue } from '../../cel/json-values.js';
import {
  authorizerValue,
  type CheckDecision,
  type CheckedAttributes,
  type Decide,
  DecisionNeeded,
  requestResourceValue,
} from '../../cel/library/authorizer.js';
import type { Prepared } from '../../cel/prepare.js';
import { Failure, type Value } from '../../cel/values.js';
import { inTurns, type TurnTaking } from '../../runtime/turn-taking.js';
import type { AdmissionAttributes } from '../admission-step.js';
import { nameOf } from '../admission-subject.js';
import type { EvaluateConditions } from './matching.js';
import { requestMembers } from './review.js';
import { type HookedKinds, namespaceOf, requested } from './seen.js';

/** What the conditions of one webhook may cost together; units of `src/cel/cost.ts`. */
const perWebhook = 2_500_000;

const compiled = new WeakMap<MatchCondition, Prepared>();
async function compile(condition: MatchCondition, turns: TurnTaking): Promise<Prepared> {
  const made = await inTurns(compileCondition(condition.expression), turns);
  compiled.set(condition, made);
  return made;
}

/** Evaluates match conditions (KEP-3716), each compiled once. */
export const conditionEvaluator =
  ({
    authorizer,
    kinds,
  }: {
    readonly authorizer: Authorizer;
    readonly kinds: Pick<HookedKinds, 'shown'>;
  }): EvaluateConditions =>
  async (conditions, { attributes, seen, turns }) => {
    const decisions = new Decisions(authorizer, attributes.user);
    const shown = (object: typeof seen.object): Json => (object === undefined ? null : kinds.shown(object, seen.as));
    const variables = variablesOf(attributes, decisions, {
      object: shown(seen.object),
      oldObject: shown(seen.previous),
      // The kind is that of the objects; the resource stays the one that was asked for, unlike in a review.
      request: requestMembers(attributes, { ...requested(attributes).as, kind: seen.as.kind }),
    });
    const failures: string[] = [];
    let left = perWebhook;
    let holds = true;
    for (const condition of conditions) {
      if (turns.isDue) await turns.next();
      const prepared = compiled.get(condition) ?? (await compile(condition, turns));
      if (prepared.wrong !== undefined) {
        failures.push(`compilation error: ${prepared.wrong}`);
        continue;
      }
      const { value, cost } = await decisions.during(() => prepared.program.evaluate(variables));
      if (cost > left) {
        return {
          failures: ['validation failed due to running out of cost budget, no further validation rules will be run'],
        };
      }
      left -= cost;
      if (value instanceof Failure) {
        failures.push(`expression '${condition.expression}' resulted in error: ${value.message}`);
      } else if (value === false) holds = false;
    }
    return holds && failures.length > 0 ? { failures } : { holds };
  };

type Variables = (name: string) => Value | undefined;

function variablesOf(
  attributes: AdmissionAttributes,
  { decide }: Decisions,
  json: { readonly object: Json; readonly oldObject: Json; readonly request: JsonObject },
): Variables {
  const { resource, subresource = '' } = attributes;
  const made = new Map<string, Value>([
    ['object', jsonValue(json.object)],
    ['oldObject', jsonValue(json.oldObject)],
    ['request', jsonValue(json.request)],
    ['namespaceObject', null],
    ['authorizer', authorizerValue(decide)],
    [
      'authorizer.requestResource',
      requestResourceValue(decide, {
        group: resource.group,
        resource: resource.plural,
        subresource,
        namespace: namespaceOf(attributes),
        name: nameOf(attributes),
      }),
    ],
  ]);
  return (name) => made.get(name);
}

/** Answers of the authorizer, asked for while expressions are evaluated. */
class Decisions {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;
  readonly #known = new Map<string, CheckDecision>();

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  readonly decide: Decide = (attributes) => this.#known.get(JSON.stringify(attributes));

  /** Does something that may need decisions, again after each that was not known yet. */
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
      ...given('subresource', resource?.subresource),
      ...given('namespace', resource?.namespace),
      ...given('name', resource?.name),
      ...given('fieldSelector', resource?.fieldSelector),
      ...given('labelSelector', resource?.labelSelector),
    });
    return { allowed: verdict === 'allow', reason, ...(error === undefined ? {} : { error }) };
  }
}

const given = <N extends string>(name: N, text: string | undefined): { readonly [K in N]?: string } =>
  (text ? { [name]: text } : {}) as { readonly [K in N]?: string };
