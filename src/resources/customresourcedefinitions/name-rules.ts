import { goLowerCase } from '../../api/go-text.js';
import type {
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
} from '../../api/kinds/custom-resource-definition.js';
import { dns1035Label, nameRules } from '../../api/names.js';
import { child, index, invalid, required, type Violation, validateEach } from '../../api/violations.js';

/** Returns why a definition's name is invalid: it must consist of the plural and the group. */
export function wrongDefinitionName(
  name: string,
  { names, group = '' }: CustomResourceDefinitionSpec,
  options: { readonly prefix: boolean },
): readonly string[] {
  const fits = name === `${names?.plural ?? ''}.${group}`;
  return [...nameRules.dnsSubdomain(name, options), ...(fits ? [] : ['must be spec.names.plural+"."+spec.group'])];
}

const requiredNames = ['plural', 'singular', 'kind', 'listKind'] as const;
/** Returns violations for missing names that every definition needs. */
export const missingNames = (names: CustomResourceDefinitionNames | undefined): readonly Violation[] =>
  requiredNames.flatMap((name) => (names?.[name] ? [] : [required(child('spec.names', name))]));

/** Validates the form of names, be they requested or accepted. */
export function nameFormViolations(
  names: CustomResourceDefinitionNames | undefined,
  path: string,
): readonly Violation[] {
  const label = (field: string, value: string | undefined): readonly Violation[] => {
    const wrong = value ? dns1035Label(value) : [];
    return wrong.length > 0 ? [invalid(child(path, field), value, wrong.join())] : [];
  };
  const mixedCase = (field: string, value: string | undefined): readonly Violation[] => {
    const wrong = value ? dns1035Label(goLowerCase(value)) : [];
    const message = `may have mixed case, but should otherwise match: ${wrong.join()}`;
    return wrong.length > 0 ? [invalid(child(path, field), value, message)] : [];
  };
  const each = (field: string, values: readonly string[] | undefined): readonly Violation[] =>
    validateEach(values ?? [], (value, at) => {
      const wrong = dns1035Label(value);
      return wrong.length > 0 ? [invalid(index(child(path, field), at), value, wrong.join())] : [];
    });
  return [
    ...label('plural', names?.plural),
    ...label('singular', names?.singular),
    ...mixedCase('kind', names?.kind),
    ...mixedCase('listKind', names?.listKind),
    ...each('shortNames', names?.shortNames),
    ...(names?.kind && names.kind === names.listKind
      ? [invalid(child(path, 'listKind'), names.listKind, 'kind and listKind may not be the same')]
      : []),
    ...each('categories', names?.categories),
  ];
}
