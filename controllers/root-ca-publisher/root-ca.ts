import { type Domains, defaultDomains, signerKeyIn } from '../../src/api/domains.js';
import { type ConfigMap, ConfigMaps } from '../../src/api/kinds/config-map.js';
import { groupVersion } from '../../src/api/object.js';

export const configMapName = 'kube-root-ca.crt';
const key = 'ca.crt';
const annotationIn = (domains: Domains): string => signerKeyIn(domains, `${defaultDomains.signer}/description`);
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Returns the ConfigMap to create in a namespace. */
export const wantedConfigMap = (namespace: string, bundle: string, domains: Domains): ConfigMap => ({
  apiVersion: groupVersion(ConfigMaps),
  kind: ConfigMaps.kind,
  metadata: { name: configMapName, namespace, annotations: { [annotationIn(domains)]: description } },
  data: { [key]: bundle },
});

/** Returns the ConfigMap with the right contents, and everything else unchanged; undefined if it has them already. */
export function repaired(found: ConfigMap, bundle: string, domains: Domains): ConfigMap | undefined {
  const annotation = annotationIn(domains);
  const data = Object.entries(found.data ?? {});
  const isRight = data.length === 1 && data[0]?.[0] === key && data[0][1] === bundle;
  if (isRight && found.metadata.annotations?.[annotation]) return undefined;
  return {
    ...found,
    metadata: { ...found.metadata, annotations: { ...found.metadata.annotations, [annotation]: description } },
    data: { [key]: bundle },
  };
}
