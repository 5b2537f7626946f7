/**
 * Returns the resource part of a store key: `<group>/<plural>`, with the core group as `core`. Empty if the key lacks
 * either part.
 */
export const resourcePrefix = (key: string): string =>
  key.slice(0, Math.max(key.indexOf('/', key.indexOf('/') + 1), 0));

/** Splits a resource prefix into group and resource; the core group is ''. */
export function resourceOfPrefix(home: string): { readonly group: string; readonly resource: string } {
  const [group = '', resource = ''] = home.split('/');
  return { group: group === 'core' ? '' : group, resource };
}
