import type { JsonObject } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import type { UserInfo } from '../../api/user.js';
import {
  compileClaimRule,
  compileMapping,
  compileUserRule,
  membersValue,
} from '../../cel/environments/authentication.js';
import type { Prepared } from '../../cel/prepare.js';
import type { Value } from '../../cel/values.js';
import type { JwtIssuer } from './jwt-issuer.js';

/** The use of an expression: to map claims, to validate claims, or to validate the resulting user. */
export type ExpressionUse = 'mapping' | 'claim rule' | 'user rule';

const compilers: Readonly<Record<ExpressionUse, (expression: string) => Steps<Prepared>>> = {
  mapping: compileMapping,
  'claim rule': compileClaimRule,
  'user rule': compileUserRule,
};

/** The compiled expressions of issuers. */
export class Expressions {
  readonly #prepared = new Map<string, Prepared>();

  /** Compiles all expressions of these issuers. */
  static *of(issuers: readonly JwtIssuer[]): Steps<Expressions> {
    const compiled = new Expressions();
    for (const { use, text } of issuers.flatMap(expressionsIn)) {
      const key = keyOf(use, text);
      if (!compiled.#prepared.has(key)) compiled.#prepared.set(key, yield* compilers[use](text));
    }
    return compiled;
  }

  /** Returns the prepared expression, or its error. */
  get(use: ExpressionUse, text: string): Prepared {
    const found = this.#prepared.get(keyOf(use, text));
    if (found === undefined) throw new Error(`the expression ${text} was not compiled`);
    return found;
  }

  onClaims(claims: JsonObject): Evaluate {
    return this.#on('claims', membersValue(claims));
  }

  onUser({ username, uid = '', groups, extra = {} }: UserInfo): Evaluate {
    return this.#on('user', membersValue({ username, uid, groups, extra } as unknown as JsonObject));
  }

  #on(variable: string, value: Value): Evaluate {
    return (use, text) => {
      const prepared = this.get(use, text);
      if (prepared.wrong !== undefined) throw new Error(`the expression ${text} is wrong: ${prepared.wrong}`);
      return prepared.program.evaluate((name) => (name === variable ? value : undefined)).value;
    };
  }
}

/** Returns the value of an expression, which may be a Failure. */
export type Evaluate = (use: ExpressionUse, text: string) => Value;

const keyOf = (use: ExpressionUse, text: string): string => `${use}: ${text}`;

function expressionsIn({
  claimMappings: { username, groups, uid, extra = [] },
  claimValidationRules = [],
  userValidationRules = [],
}: JwtIssuer): readonly { readonly use: ExpressionUse; readonly text: string }[] {
  const all: readonly (readonly [ExpressionUse, readonly (string | undefined)[]])[] = [
    ['claim rule', claimValidationRules.map(({ expression }) => expression)],
    [
      'mapping',
      [username?.expression, groups?.expression, uid?.expression, ...extra.map((one) => one.valueExpression)],
    ],
    ['user rule', userValidationRules.map(({ expression }) => expression)],
  ];
  return all.flatMap(([use, texts]) => texts.flatMap((text) => (text ? [{ use, text }] : [])));
}
