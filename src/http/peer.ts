import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Who is at the other end of a connection. */
export interface Peer {
  /** Of TLS, as DER, leaf first. */
  readonly certificates: readonly Buffer[];
  /** Empty where the connection is gone. */
  readonly address: string;
}

const peers = new WeakMap<object, Peer>();

export const unknownPeer: Peer = { certificates: [], address: '' };

/** The peer, read once per connection (`owner` stands for it). */
export function peerOf(owner: object, socket: Socket): Peer {
  const known = peers.get(owner);
  if (known !== undefined) return known;
  const peer = { certificates: certificatesOf(socket as TLSSocket), address: socket.remoteAddress ?? '' };
  peers.set(owner, peer);
  return peer;
}

/**
 * All that was sent, in its order. Node leads from one to the next; `getPeerCertificate` would pick one issuer of each
 * and leave out the others.
 */
function certificatesOf(socket: TLSSocket): readonly Buffer[] {
  const sent: Buffer[] = [];
  if (typeof socket.getPeerX509Certificate !== 'function') return sent;
  for (let next = socket.getPeerX509Certificate(); next !== undefined; next = next.issuerCertificate)
    sent.push(next.raw);
  return sent;
}
