import { isUtf8 } from 'node:buffer';
import { bytesOfUnpaddedUrlBase64 } from '../api/base64.js';
import { type Authenticated, AuthenticationError, type Authenticator, type Credentials } from './authenticator.js';

/** Authenticates tokens of one kind, however they were sent. */
export interface TokenAuthenticator {
  /**
   * Returns undefined for tokens of other kinds. Throws AuthenticationError for an invalid token of this kind.
   * `audiences` are those that the token must be for.
   */
  authenticateToken(token: string, audiences: readonly string[]): Promise<Authenticated | undefined>;
}

/** The contents of an Authorization header; both members are absent if the scheme is not Bearer. */
export interface BearerCredential {
  readonly token?: string;
  /** Set if the scheme is Bearer and the token is unreadable. The request is then anonymous. */
  readonly warning?: string;
}

const extraSpace = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/**
 * Parses `Bearer <token>` (RFC 6750): the scheme in any case, exactly one space; anything after the token is ignored.
 */
export function readBearer(header: string | undefined): BearerCredential {
  const text = (header ?? '').trim();
  const start = text.indexOf(' ') + 1;
  if (start === 0 || text.slice(0, start).toLowerCase() !== 'bearer ') return {};
  const end = text.indexOf(' ', start);
  if (end === start) return { warning: extraSpace };
  return { token: end < 0 ? text.slice(start) : text.slice(start, end) };
}

/** Returns the warning that the Authorization header of a request causes. */
export const bearerWarning = (credentials: Credentials): string | undefined =>
  readBearer(credentials.header('authorization')[0]).warning;

export const invalidBearerToken = 'invalid bearer token';

/**
 * Authenticates by tokens in the Authorization header. A token that no authenticator recognises is an error: a caller
 * with a credential is never treated as anonymous.
 */
export const bearerToken = (tokens: TokenAuthenticator, apiAudiences: readonly string[]): Authenticator => ({
  async authenticate(credentials) {
    const { token } = readBearer(credentials.header('authorization')[0]);
    if (token === undefined) return undefined;
    return requireKnown(await tokens.authenticateToken(token, credentials.audiences ?? apiAudiences));
  },
});

const protocolPrefix = 'base64url.bearer.authorization.';

/**
 * Authenticates by tokens in a WebSocket handshake, for browsers, which cannot set an Authorization header: the
 * subprotocol `base64url.bearer.authorization.<api domain>.<unpadded base64url>` beside at least one other.
 */
export const webSocketToken = (
  tokens: TokenAuthenticator,
  { apiAudiences, apiDomain }: { readonly apiAudiences: readonly string[]; readonly apiDomain: string },
): Authenticator => {
  const prefix = `${protocolPrefix}${apiDomain}.`;
  return {
    async authenticate(credentials) {
      if (!isWebSocket(credentials)) return undefined;
      const protocols = credentials.header('sec-websocket-protocol').flatMap((line) => line.split(','));
      const offered = protocols.map((protocol) => protocol.trim()).filter((protocol) => protocol !== '');
      const bearers = offered.filter((protocol) => protocol.startsWith(prefix));
      const encoded = bearers[0]?.slice(prefix.length);
      if (encoded === undefined) return undefined;
      if (bearers.length > 1) throw new AuthenticationError('multiple base64.bearer.authorization tokens specified');
      const bytes = bytesOfUnpaddedUrlBase64(encoded);
      if (bytes === undefined) throw new AuthenticationError('invalid base64.bearer.authorization token encoding');
      if (!isUtf8(bytes)) throw new AuthenticationError('invalid base64.bearer.authorization token');
      if (bytes.length === 0) return undefined;
      if (offered.length === bearers.length) throw new AuthenticationError('missing additional subprotocol');
      const token = bytes.toString('utf8');
      return requireKnown(await tokens.authenticateToken(token, credentials.audiences ?? apiAudiences));
    },
  };
};

/**
 * Returns the subprotocols of a handshake without those that contain a token. Only these may be negotiated and passed
 * on.
 */
export const withoutTokenProtocols = (protocols: string): string =>
  protocols
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !protocol.startsWith(protocolPrefix))
    .join(',');

const isWebSocket = (credentials: Credentials): boolean =>
  credentials.header('upgrade').some((value) => value.toLowerCase() === 'websocket') &&
  credentials.header('connection').some((value) => value.toLowerCase().includes('upgrade'));

function requireKnown(found: Authenticated | undefined): Authenticated {
  if (found === undefined) throw new AuthenticationError(invalidBearerToken);
  return found;
}
