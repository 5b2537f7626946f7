import { type ApiObject, ConfigMaps, defineKeyedController, Namespaces, sharedCache } from 'kedge';

const teamOf = ({ metadata }: ApiObject): string | undefined => metadata.labels?.['example.com/team'];

/** Keeps a ConfigMap for every team that says which namespaces it has. */
export const teamDirectory = defineKeyedController<string>('team-directory', (context) => {
  const { client } = context;
  const namespaces = sharedCache(context, Namespaces, { metadataOnly: true });
  return {
    identity: (team) => team,

    async start(wake) {
      await namespaces.synced;
      namespaces.changes.subscribe(({ type, object, previous = object }) => {
        for (const team of new Set([teamOf(previous), teamOf(object)]))
          if (team !== undefined) wake(team, `namespace ${type}`);
      });
    },

    async reconcile(team) {
      const owned = namespaces.list().filter((namespace) => teamOf(namespace) === team);
      const key = { namespace: 'default', name: `team-${team}` };
      const data = { namespaces: owned.map(({ metadata }) => metadata.name).join(' ') };
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data };
      const maps = client.resource(ConfigMaps);
      await maps.patch(key, { type: 'apply', body, fieldManager: 'team-directory', force: true });
    },
  };
});
