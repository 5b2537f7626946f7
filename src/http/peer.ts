import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The other end of a connection. */
export interface Peer {
  /** The TLS certificates as DER, leaf first. */
  readonly certificates: readonly Buffer[];
  /** The IP address; empty if the connection has closed. */
  readonly address: string;
}

const peers = new WeakMap<object, Peer>();

export const unknownPeer: Peer = { certificates: [], address: '' };

/** Returns the peer of a connection, read once per `owner`, the object that stands for the connection. */
export function peerOf(owner: object, socket: Socket): Peer {
  const known = peers.get(owner);
  if (known !== undefined) return known;
  const peer = { certificates: certificatesOf(socket as TLSSocket), address: socket.remoteAddress ?? '' };
  peers.set(owner, peer);
  return peer;
}

/**
 * Returns all certificates that were sent, in order. `getPeerCertificate` would pick one issuer for each and leave out
 * the others.
 */
function certificatesOf(socket: TLSSocket): readonly Buffer[] {
  const sent: Buffer[] = [];
  if (typeof socket.getPeerX509Certificate !== 'function') return sent;
  for (let next = socket.getPeerX509Certificate(); next !== undefined; next = next.issuerCertificate)
    sent.push(next.raw);
  return sent;
}
