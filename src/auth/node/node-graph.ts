import { type Domains, signerKeyIn } from '../../api/domains.js';
import { mirrorAnnotation, type Pod } from '../../api/kinds/pod.js';
import { claimNamesIn, configMapNamesIn, secretNamesIn } from '../../api/kinds/pod-references.js';

/** What a node may be shown because of the pods that run on it. */
export type RelatedKind = 'pods' | 'secrets' | 'configmaps' | 'serviceaccounts' | 'persistentvolumeclaims';

/** Which objects a node has to do with. */
export interface NodeGraph {
  isRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean;
}

/** The graph of these pods. A pod without a node relates nothing; a mirror pod only itself, for its node wrote it. */
export function nodeGraph(pods: readonly Pod[], domains: Pick<Domains, 'signer'>): NodeGraph {
  const mirror = signerKeyIn(domains, mirrorAnnotation);
  const byNode = new Map<string, Set<string>>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName;
    if (!node) continue;
    const related = byNode.get(node) ?? new Set();
    byNode.set(node, related);
    const { namespace = '', name = '', annotations = {} } = pod.metadata;
    const add = (kind: RelatedKind, names: Iterable<string>): void => {
      for (const one of names) related.add(`${kind}/${namespace}/${one}`);
    };
    add('pods', [name]);
    if (Object.hasOwn(annotations, mirror)) continue;
    add('serviceaccounts', [pod.spec?.serviceAccountName ?? '']);
    add('secrets', secretNamesIn(pod));
    add('configmaps', configMapNamesIn(pod));
    add('persistentvolumeclaims', claimNamesIn(pod));
  }
  return {
    isRelated: (node, kind, namespace, name) => byNode.get(node)?.has(`${kind}/${namespace}/${name}`) ?? false,
  };
}
