import { quote } from '../../api/go-text.js';
import { type Pod, Pods } from '../../api/kinds/pod.js';
import { tokenAudiencesIn } from '../../api/kinds/pod-references.js';
import { boundObjectMismatch, type TokenRequest } from '../../api/kinds/token-request.js';
import { type NodeRule, type NodeWrite, notCached, type Refusal } from './node-write.js';

/** Checks that a node agent requests tokens only for the service accounts of pods on its node. */
export const tokenRule: NodeRule = async (write) => {
  const { node, attributes, objects } = write;
  if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return undefined;
  const { boundObjectRef: ref, audiences } = (attributes.object as TokenRequest | undefined)?.spec ?? {};
  if (ref?.apiVersion !== 'v1' || ref.kind !== Pods.kind || !ref.name) {
    return 'node requested token not bound to a pod';
  }
  if (!ref.uid) return 'node requested token with a pod binding without a uid';
  const pod = await objects.get(Pods, { namespace: attributes.key.namespace, name: ref.name });
  if (pod === undefined) return notCached(Pods, ref.name);
  if (ref.uid !== pod.metadata.uid) return boundObjectMismatch(ref);
  if (pod.spec?.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node';
  return audienceRefusal(write, pod, audiences ?? []);
};

/**
 * Checks that a node agent requests tokens only for audiences that the volumes of the pod name, unless it is authorized
 * for others.
 */
async function audienceRefusal(
  { attributes, authorizer }: NodeWrite,
  pod: Pod,
  audiences: readonly string[],
): Promise<Refusal> {
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  if (tokenAudiencesIn(pod).has(audience)) return undefined;
  const { user, key } = attributes;
  const { verdict } = await authorizer.authorize({
    user,
    verb: 'request-serviceaccounts-token-audience',
    group: '',
    version: 'v1',
    resource: audience,
    namespace: key.namespace,
    name: key.name,
  });
  if (verdict === 'allow') return undefined;
  return `audience ${quote(audience)} not found in pod spec volume, ${user.username} is not authorized to request tokens for this audience`;
}
