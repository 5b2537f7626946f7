import { findCondition, setCondition } from '../../src/api/conditions.js';
import { aggregate, quote } from '../../src/api/go-text.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '../../src/api/kinds/custom-resource-definition.js';

/** The names in use within one group; resources and kinds are separate namespaces. */
interface NamesInUse {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

type Problem = Pick<CustomResourceDefinitionCondition, 'reason' | 'message'>;

/**
 * Decides which of its requested names a definition gets, given the others of its group, and its conditions about them.
 * A name that is in use, by another definition or elsewhere in this one, keeps its previous value. Returns the same
 * status if nothing changes.
 */
export function decideNames(
  crd: CustomResourceDefinition,
  group: readonly CustomResourceDefinition[],
  now: string,
): CustomResourceDefinitionStatus {
  const status = crd.status ?? {};
  const requested = crd.spec.names;
  if (sameNames(requested, status.acceptedNames)) return status;
  const { accepted, problem } = accept(requested, status.acceptedNames, namesOf([...group, crd]));
  const conditions = [
    problem === undefined
      ? { type: 'NamesAccepted', status: 'True' as const, reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False' as const, ...problem },
    ...establishing(status, problem === undefined),
  ].reduce(
    (list, condition) => setCondition<CustomResourceDefinitionCondition>(list, condition, now),
    status.conditions ?? [],
  );
  if (conditions === status.conditions && sameNames(accepted, status.acceptedNames)) return status;
  return { ...status, acceptedNames: accepted, conditions };
}

/** Returns the condition Established before the definition is established; an established one stays so. */
function establishing(
  { conditions }: CustomResourceDefinitionStatus,
  accepted: boolean,
): readonly CustomResourceDefinitionCondition[] {
  const current = findCondition(conditions, 'Established');
  if (current?.status === 'True') return [];
  if (accepted) {
    const message = 'the initial names have been accepted';
    return [{ type: 'Established', status: 'False', reason: 'Installing', message }];
  }
  if (current !== undefined) return [];
  return [{ type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }];
}

function accept(
  requested: CustomResourceDefinitionNames,
  held: CustomResourceDefinitionNames | undefined,
  taken: NamesInUse,
): { readonly accepted: CustomResourceDefinitionNames; readonly problem: Problem | undefined } {
  const own = new Set(held?.shortNames ?? []);
  const inUse = (name: string | undefined, accepted: string | undefined, names: ReadonlySet<string>): boolean =>
    name !== undefined && name !== accepted && names.has(name);
  const shortTaken = (requested.shortNames ?? []).filter((name) => !own.has(name) && taken.resources.has(name));

  const plural = inUse(requested.plural, held?.plural, taken.resources);
  const singular = inUse(requested.singular, held?.singular, taken.resources);
  const short = shortTaken.length > 0;
  const kind = inUse(requested.kind, held?.kind, taken.kinds);
  const listKind = inUse(requested.listKind, held?.listKind, taken.kinds);
  const problems: readonly (Problem & { readonly holds: boolean })[] = [
    { holds: plural, reason: 'PluralConflict', message: inUseMessage(requested.plural) },
    { holds: singular, reason: 'SingularConflict', message: inUseMessage(requested.singular ?? '') },
    { holds: short, reason: 'ShortNamesConflict', message: aggregate(shortTaken.map(inUseMessage)) },
    { holds: kind, reason: 'KindConflict', message: inUseMessage(requested.kind) },
    { holds: listKind, reason: 'ListKindConflict', message: inUseMessage(requested.listKind ?? '') },
  ];
  const last = problems.findLast(({ holds }) => holds);
  const shortNames = short ? held?.shortNames : requested.shortNames;
  const singularName = singular ? held?.singular : requested.singular;
  const listName = listKind ? held?.listKind : requested.listKind;
  return {
    accepted: {
      plural: plural ? (held?.plural ?? '') : requested.plural,
      ...(singularName === undefined ? {} : { singular: singularName }),
      ...(shortNames === undefined ? {} : { shortNames }),
      kind: kind ? (held?.kind ?? '') : requested.kind,
      ...(listName === undefined ? {} : { listKind: listName }),
      ...(requested.categories === undefined ? {} : { categories: requested.categories }),
    },
    problem: last === undefined ? undefined : { reason: last.reason ?? '', message: last.message ?? '' },
  };
}

const inUseMessage = (name: string): string => `${quote(name)} is already in use`;

function namesOf(group: readonly CustomResourceDefinition[]): NamesInUse {
  const accepted = group.flatMap(({ status }) => (status?.acceptedNames === undefined ? [] : [status.acceptedNames]));
  return {
    resources: new Set(
      accepted.flatMap(({ plural, singular = '', shortNames = [] }) => [plural, singular, ...shortNames]),
    ),
    kinds: new Set(accepted.flatMap(({ kind, listKind = '' }) => [kind, listKind])),
  };
}

const sameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((name, at) => name === b[at]);

const sameNames = (a: CustomResourceDefinitionNames, b: CustomResourceDefinitionNames | undefined): boolean =>
  b !== undefined &&
  a.plural === b.plural &&
  (a.singular ?? '') === (b.singular ?? '') &&
  sameList(a.shortNames, b.shortNames) &&
  a.kind === b.kind &&
  (a.listKind ?? '') === (b.listKind ?? '') &&
  sameList(a.categories, b.categories);
