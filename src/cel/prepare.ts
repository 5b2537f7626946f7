import type { Steps } from '../api/steps.js';
import type { Checked } from './checker.js';
import type { Environment } from './environment.js';
import { type Program, ProgramFailed, program } from './evaluator.js';
import type { Type } from './types.js';

/** A compiled expression, or its errors in kube-apiserver's words. */
export type Prepared =
  | { readonly program: Program; readonly checked: Checked; readonly wrong?: undefined }
  | {
      readonly wrong: string;
      readonly checked?: Checked;
      /**
       * True if it compiles but fails before evaluation; Kubernetes treats that as an internal error in some places.
       */
      readonly isInternal?: boolean;
    };

export interface PrepareOptions {
  /** Returns an error if the expression's type is not allowed. */
  readonly wrongType: (type: Type) => string | undefined;
  /** The prefixes of errors. */
  readonly compilation?: string;
  readonly instantiation?: string;
}

/** Compiles an expression as Kubernetes does for its API fields. */
export function* prepare(
  environment: Environment,
  text: string,
  { wrongType, compilation = 'compilation failed: ', instantiation = 'program instantiation failed: ' }: PrepareOptions,
): Steps<Prepared> {
  const { issues, checked } = yield* environment.compile(text);
  if (issues !== undefined) return { wrong: compilation + issues.map((issue) => issue.text).join('\n') };
  const wrong = wrongType(checked.type);
  if (wrong !== undefined) return { wrong };
  yield;
  try {
    return { program: yield* program(checked, environment), checked };
  } catch (error) {
    if (!(error instanceof ProgramFailed)) throw error;
    return { wrong: instantiation + error.message, checked, isInternal: true };
  }
}
