import type { MatchCondition } from '../../api/kinds/webhook-configuration.js';
import type { Json } from '../../api/object.js';
import type { Authorizer } from '../../auth/authorizer.js';
import { compileCondition } from '../../cel/environments/admission.js';
import type { Prepared } from '../../cel/prepare.js';
import { runInTurns, type TurnTaking } from '../../runtime/turn-taking.js';
import {
  conditionsVerdict,
  type Expression,
  evaluateExpressions,
  matchConditionsCostBudget,
} from '../expression-list.js';
import { AuthorizerDecisions, requestVariables } from '../request-variables.js';
import type { EvaluateConditions } from './matching.js';
import { requestMembers } from './review.js';
import { type ObjectInterfaces, originalAttributes } from './versioned-attributes.js';

const compiled = new WeakMap<MatchCondition, Prepared>();
async function compile(condition: MatchCondition, turns: TurnTaking): Promise<Prepared> {
  const prepared = await runInTurns(compileCondition(condition.expression), turns);
  compiled.set(condition, prepared);
  return prepared;
}

/** Returns a function that evaluates match conditions (KEP-3716). Each is compiled once. */
export const conditionEvaluator =
  ({
    authorizer,
    kinds,
  }: {
    readonly authorizer: Authorizer;
    readonly kinds: Pick<ObjectInterfaces, 'toJson'>;
  }): EvaluateConditions =>
  async (conditions, { attributes, seen, turns }) => {
    const decisions = new AuthorizerDecisions(authorizer, attributes.user);
    const shown = (object: typeof seen.object): Json => (object === undefined ? null : kinds.toJson(object, seen.as));
    const variables = requestVariables(attributes, decisions, {
      object: shown(seen.object),
      oldObject: shown(seen.previous),
      // The kind is that of the objects; unlike in a review, the resource is still the requested one.
      request: requestMembers(attributes, { ...originalAttributes(attributes).as, kind: seen.as.kind }),
    });
    const expressions: Expression[] = [];
    for (const condition of conditions) {
      if (turns.isDue) await turns.next();
      const prepared = compiled.get(condition) ?? (await compile(condition, turns));
      expressions.push({ text: condition.expression, prepared });
    }
    const { results } = await evaluateExpressions(expressions, matchConditionsCostBudget, {
      variables,
      decisions,
      turns,
    });
    return conditionsVerdict(results);
  };
