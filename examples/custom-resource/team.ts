import { type ApiObject, resourceType } from 'kedge';

/** A group of people who work together; each team gets a namespace. See crd.yaml. */
export interface Team extends ApiObject {
  readonly spec?: { readonly members?: readonly string[] };
  readonly status?: { readonly namespace?: string; readonly members?: number };
}

export const Teams = resourceType<Team>({
  group: 'example.com',
  version: 'v1',
  plural: 'teams',
  kind: 'Team',
  namespaced: false,
});
