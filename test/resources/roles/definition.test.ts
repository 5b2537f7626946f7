import { expect, test } from 'vitest';
import { clusterRoles } from '../../../src/resources/clusterroles/definition.js';
import { roles } from '../../../src/resources/roles/definition.js';
import { write } from '../write.js';

const noVerbs = 'verbs: Required value: verbs must contain at least one value';
const noGroups = 'apiGroups: Required value: resource rules must supply at least one api group';
const noResources = 'resources: Required value: resource rules must supply at least one resource';
const namespaced = 'nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs';
const mixed =
  'nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs';

test.each([
  [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }, [], []],
  [{ apiGroups: ['No Group'], resources: ['UPPER', 'a/b/c', ''], verbs: ['', 'fly'] }, [], []],
  [{}, [noVerbs, noGroups, noResources], [noVerbs, noGroups, noResources]],
  [{ resourceNames: ['n'], verbs: ['get'] }, [noGroups, noResources], [noGroups, noResources]],
  [{ nonResourceURLs: ['/x'], verbs: ['get'] }, [namespaced], []],
  [{ nonResourceURLs: ['/x'] }, [noVerbs, namespaced], [noVerbs]],
  [{ nonResourceURLs: ['/x'], apiGroups: [''], verbs: ['get'] }, [namespaced, mixed], [mixed]],
  [{ nonResourceURLs: ['/x'], resourceNames: ['n'], verbs: ['get'] }, [namespaced, mixed], [mixed]],
])('rule %j', (rule, inRole, inClusterRole) => {
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, rule];
  expect(write(roles, { rules }).violations).toEqual(inRole.map((text) => `rules[1].${text}`));
  expect(write(clusterRoles, { rules }).violations).toEqual(inClusterRole.map((text) => `rules[1].${text}`));
});

test.each([{}, { rules: null }])('missing rules are shown as null: %j', (body) => {
  expect(write(roles, body).object['rules']).toBeNull();
  expect(write(clusterRoles, body).object['rules']).toBeNull();
});

test('names are path segments', () => {
  expect(roles.nameRule?.('system:Foo Bar...', { prefix: false })).toEqual([]);
  expect(roles.nameRule?.('a/b', { prefix: false })).toEqual(["may not contain '/'"]);
});
