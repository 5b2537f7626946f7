import { quote } from '../../api/go-text.js';

/** The namespace of the heartbeat leases of nodes. */
export const leaseNamespace = 'kube-node-lease';

/**
 * Returns the reason why a lease is not that of the node; undefined if it is. Without a name, only the namespace is
 * checked.
 */
export function leaseRefusal(
  node: string,
  { namespace, name }: { readonly namespace: string | undefined; readonly name?: string },
): string | undefined {
  if (namespace !== leaseNamespace) {
    return `can only access leases in the ${quote(leaseNamespace)} system namespace`;
  }
  if (name === undefined || name === node) return undefined;
  return 'can only access node lease with the same name as the requesting node';
}
