import { once } from '../../api/once.js';
import type { Steps } from '../../api/steps.js';
import { type DeclType, sizesWithin, typeOf } from '../decl-type.js';
import { type Environment, environmentOf } from '../environment.js';
import { estimate } from '../estimate.js';
import { kubernetesLibraries } from '../kubernetes.js';
import { quantityType } from '../library/quantities.js';
import { type Prepared, prepare } from '../prepare.js';
import { fullTypeText } from '../type-text.js';
import { any, bool, isAny, string, type Type } from '../types.js';

/** Expressions about a device (KEP-4381), whose parts have known size limits. */

const text = (maxElements: number): DeclType => ({ type: string, maxElements });
const maxQualified = 32;
const domain = text(63);
const id = text(32);
const attribute: DeclType = { type: any, maxElements: 64 };
const byDomain = (element: DeclType): DeclType => ({
  key: domain,
  element: { key: id, element, maxElements: maxQualified },
  maxElements: maxQualified,
});
const device: DeclType = {
  maxElements: 0,
  fields: new Map<string, DeclType>([
    ['driver', text(63)],
    ['attributes', byDomain(attribute)],
    ['capacity', byDomain({ type: quantityType, maxElements: 0 })],
    ['allowMultipleAllocations', { type: bool, maxElements: 1 }],
  ]),
};
/** Returns sizes within a device; `attributes["domain"].id` has the largest size of an attribute. */
const sizeOfDevice = sizesWithin(device, ({ element }) => (element === attribute ? attribute : undefined));
/** Returns sizes for `device` only; all other names are those of types and have no known size. */
const sizeOf: typeof sizeOfDevice = (path) => (path[0] === 'device' ? sizeOfDevice(path) : undefined);

const environment = once(
  (): Environment =>
    environmentOf({
      variables: new Map<string, Type>([['device', typeOf(device, 'kubernetes.DRADevice')]]),
      libraries: kubernetesLibraries,
      bindings: true,
    }),
);

/** The maximum cost of a selector, or its errors in kube-apiserver's words. */
export function* checkSelector(
  expression: string,
): Steps<{ readonly cost: number } | Extract<Prepared, { readonly wrong: string }>> {
  const prepared = yield* prepare(environment(), expression, {
    wrongType: (type) =>
      type.kind === 'bool' || isAny(type)
        ? undefined
        : `must evaluate to bool or the unknown type, not ${fullTypeText(type)}`,
  });
  if (prepared.wrong !== undefined) return prepared;
  const { max: cost } = yield* estimate(prepared.checked, environment(), sizeOf);
  return { cost };
}
