import type { Substitutions } from './assignability.js';
import type { Expr, StructLiteral } from './ast.js';
import type { Issues } from './issues.js';
import { messageOf } from './messages.js';
import { nameOfType } from './runtime-types.js';
import { typeText } from './type-text.js';
import { dyn, errorType, type StructType, type Type } from './types.js';

/** Checks the types of fields and struct literals; adds errors to the issues. */
export class FieldTypes {
  readonly #substitutions: Substitutions;
  readonly #issues: Issues;

  constructor(substitutions: Substitutions, issues: Issues) {
    this.#substitutions = substitutions;
    this.#issues = issues;
  }

  /** Returns the type of a field selected from a value of the type. */
  selected(at: number, target: Type, field: string): Type {
    switch (target.kind) {
      case 'map':
        return target.value;
      case 'struct': {
        return this.#declaredField(at, target.fields, field);
      }
      case 'parameter':
        this.#substitutions.isAssignable(dyn, target);
        return dyn;
      case 'dyn':
      case 'error':
        return dyn;
      case 'opaque':
        // Kubernetes declares its own types as structures, but nowhere declares their fields.
        if (target.name.startsWith('kubernetes.')) return this.#unresolved(at, target.name);
        break;
      default:
    }
    this.#issues.add(at, `type '${typeText(target)}' does not support field selection`);
    return dyn;
  }

  #declaredField(at: number, fields: StructType['fields'], field: string): Type {
    const type = fields.get(field);
    if (type === undefined) this.#issues.add(at, `undefined field '${field}'`);
    return type ?? errorType;
  }

  #unresolved(at: number, struct: string): Type {
    this.#issues.add(at, `unexpected failed resolution of '${struct}'`);
    return errorType;
  }

  /** Returns the type of a struct literal; `ident` is the type of its name. */
  struct({ at }: Expr, ident: Type): Type {
    if (ident.kind === 'error') return errorType;
    if (ident.kind !== 'type') {
      this.#issues.add(at, `'${nameOfType(ident)}' is not a type`);
      return errorType;
    }
    if (ident.of?.kind === 'struct' || messageOf(ident.of) !== undefined) return ident.of ?? errorType;
    this.#issues.add(at, `'${ident.of === undefined ? 'type' : nameOfType(ident.of)}' is not a message type`);
    return errorType;
  }

  /** Returns the type of a field in a struct literal. */
  structField({ at, name }: StructLiteral['fields'][number], struct: string, type: Type): Type {
    if (type.kind === 'struct') return this.selected(at, type, name);
    const message = messageOf(type);
    return message === undefined ? this.#unresolved(at, struct) : this.#declaredField(at, message.fields, name);
  }
}
