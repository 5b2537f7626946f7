/** Among whose objects a key of the store lies: `<group>/<plural>`, the core group as `core`. Empty where it lacks either. */
export const resourcePrefix = (key: string): string =>
  key.slice(0, Math.max(key.indexOf('/', key.indexOf('/') + 1), 0));

/** A home as clients name it: the core group's name is empty. */
export function resourceOfPrefix(home: string): { readonly group: string; readonly resource: string } {
  const [group = '', resource = ''] = home.split('/');
  return { group: group === 'core' ? '' : group, resource };
}
