import { type Domains, signerKeyIn } from '../../api/domains.js';
import { mirrorAnnotation, type Pod } from '../../api/kinds/pod.js';
import { claimNamesIn, configMapNamesIn, secretNamesIn } from '../../api/kinds/pod-references.js';
import type { Index } from '../incremental-index.js';

/** Resources that a node may read because of the pods that run on it. */
export type RelatedKind = 'pods' | 'secrets' | 'configmaps' | 'serviceaccounts' | 'persistentvolumeclaims';

/**
 * An index of the objects that are related to a node through its pods. A pod without a node relates no objects; a
 * mirror pod relates only itself, because its node has written it.
 */
export class NodeGraph implements Index<Pod> {
  readonly #mirror: string;
  readonly #byNode = new Map<string, Map<Pod, ReadonlySet<string>>>();

  constructor(domains: Pick<Domains, 'signer'>) {
    this.#mirror = signerKeyIn(domains, mirrorAnnotation);
  }

  isRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean {
    const key = `${kind}/${namespace}/${name}`;
    for (const related of this.#byNode.get(node)?.values() ?? []) if (related.has(key)) return true;
    return false;
  }

  add(pod: Pod): void {
    const node = pod.spec?.nodeName;
    if (!node) return;
    const pods = this.#byNode.get(node) ?? new Map<Pod, ReadonlySet<string>>();
    this.#byNode.set(node, pods.set(pod, this.#relatedTo(pod)));
  }

  remove(pod: Pod): void {
    const node = pod.spec?.nodeName ?? '';
    const pods = this.#byNode.get(node);
    pods?.delete(pod);
    if (pods?.size === 0) this.#byNode.delete(node);
  }

  #relatedTo(pod: Pod): ReadonlySet<string> {
    const { namespace = '', name = '', annotations = {} } = pod.metadata;
    const of = (kind: RelatedKind, names: Iterable<string>): readonly string[] =>
      [...names].map((one) => `${kind}/${namespace}/${one}`);
    const ownKey = of('pods', [name]);
    if (Object.hasOwn(annotations, this.#mirror)) return new Set(ownKey);
    return new Set([
      ...ownKey,
      ...of('serviceaccounts', [pod.spec?.serviceAccountName ?? '']),
      ...of('secrets', secretNamesIn(pod)),
      ...of('configmaps', configMapNamesIn(pod)),
      ...of('persistentvolumeclaims', claimNamesIn(pod)),
    ]);
  }
}
