import { nodeUserPrefix, type UserInfo, wellKnown } from '../../api/user.js';

/** The node of a node agent, with an empty name if the username contains none; undefined for other users. */
export type NodeIdentity = { readonly name: string } | undefined;

/**
 * Returns the node of a user. Both the username and the group are required, because a certificate may contain one of
 * them for other reasons.
 */
export const nodeIdentity = ({ username, groups }: UserInfo): NodeIdentity =>
  username.startsWith(nodeUserPrefix) && groups.includes(wellKnown.nodes)
    ? { name: username.slice(nodeUserPrefix.length) }
    : undefined;
