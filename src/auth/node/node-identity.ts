import { nodeUserPrefix, type UserInfo, wellKnown } from '../../api/user.js';

/** Whether a user is a node agent, and of which node; the name is empty for one that names none. */
export type NodeIdentity = { readonly name: string } | undefined;

/** The group is needed beside the name: a certificate may carry either for other reasons. */
export const nodeIdentity = ({ username, groups }: UserInfo): NodeIdentity =>
  username.startsWith(nodeUserPrefix) && groups.includes(wellKnown.nodes)
    ? { name: username.slice(nodeUserPrefix.length) }
    : undefined;
