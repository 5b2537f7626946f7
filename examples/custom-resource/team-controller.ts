import {
  type ApiObject,
  type Client,
  defineController,
  keyOf,
  Namespaces,
  owned,
  type ResourceType,
  RoleBindings,
  writeStatus,
} from 'kedge';
import { Teams } from './team.ts';
import { wanted } from './wanted.ts';

/** Gives every team a namespace in which its members may edit, and maintains both. */
export const teamController = () =>
  defineController({
    name: 'teams',
    for: Teams,
    when: ({ metadata }) => metadata.deletionTimestamp === undefined,
    alsoOn: [owned(Namespaces, { owner: Teams }), owned(RoleBindings, { owner: Teams })],

    async reconcile(team, { client }) {
      const { namespace, binding } = wanted(team);
      await apply(client, Namespaces, namespace);
      await apply(client, RoleBindings, binding);
      const members = team.spec?.members?.length ?? 0;
      await writeStatus(client.resource(Teams), team, { namespace: namespace.metadata.name ?? '', members });
    },
  });

const apply = <T extends ApiObject>(client: Client, type: ResourceType<T>, object: T): Promise<T> =>
  client.resource(type).patch(keyOf(object), { type: 'apply', body: object, fieldManager: 'teams', force: true });
