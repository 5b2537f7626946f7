import { cannotUnmarshal, cannotUnmarshalField, type ExactJson, isMembers, membersOf } from './json-exact.js';

/** `apiVersion` and `kind` of a body; empty if absent. */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

const anonymous =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const names = new Map<string, keyof TypeMeta>([
  ['apiversion', 'apiVersion'],
  ['kind', 'kind'],
]);

/** Reads `apiVersion` and `kind`, matching names in any case as Go does here, or returns Go's error for an unsuitable value. */
export function typeMetaIn(value: ExactJson): TypeMeta | { readonly wrong: string } {
  const found = { apiVersion: '', kind: '' };
  let wrong: string | undefined;
  if (value !== null && !isMembers(value)) wrong = cannotUnmarshal(value, anonymous);
  else if (value !== null) {
    for (const [name, member] of membersOf(value)) {
      const field = names.get(name) ?? names.get(name.toLowerCase());
      if (field === undefined || member === null) continue;
      if (typeof member === 'string') found[field] = member;
      else wrong ??= cannotUnmarshalField(member, `.${field}`, 'string');
    }
  }
  return wrong === undefined ? found : { wrong: `couldn't get version/kind; json parse error: ${wrong}` };
}
