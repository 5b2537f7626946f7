import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { FetchText } from '../../../src/auth/jwt/fetch-text.js';
import type { JwtIssuer } from '../../../src/auth/jwt/jwt-issuer.js';

/** A fictitious issuer of JWTs. */

export interface TestKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: Readonly<Record<string, unknown>>;
}

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

/** Returns a key for an algorithm. RSA keys take long to generate, so tests use few. */
export function testKey(alg: string, kid = `key-${alg}`, modulusLength = 2_048): TestKey {
  const curve = curves[alg];
  const { privateKey, publicKey } =
    curve === undefined
      ? generateKeyPairSync('rsa', { modulusLength })
      : generateKeyPairSync('ec', { namedCurve: curve });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } };
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a token signed as its header says, even if that makes no sense. */
export function testToken(
  claims: object,
  { privateKey, kid }: Pick<TestKey, 'privateKey' | 'kid'>,
  { alg = 'ES256', ...header }: { readonly alg?: string; readonly [member: string]: unknown } = {},
  saltLength: number = constants.RSA_PSS_SALTLEN_DIGEST,
): string {
  const signed = `${part({ alg, kid, ...header })}.${part(claims)}`;
  const how = alg.startsWith('ES')
    ? { dsaEncoding: 'ieee-p1363' as const }
    : alg.startsWith('PS')
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }
      : { padding: constants.RSA_PKCS1_PADDING };
  const signature = sign(`sha${alg.slice(2)}`, Buffer.from(signed), { key: privateKey, ...how });
  return `${signed}.${signature.toString('base64url')}`;
}

export const issuerUrl = 'https://login.example.org';

export const jwtIssuer = (more: Partial<JwtIssuer> & { readonly audiences?: readonly string[] } = {}): JwtIssuer => {
  const { audiences = ['kedge'], ...rest } = more;
  return {
    issuer: { url: issuerUrl, audiences, audienceMatchPolicy: 'MatchAny' },
    claimMappings: {
      username: { claim: 'sub', prefix: 'login:' },
      groups: { claim: 'groups', prefix: 'login:' },
      uid: { claim: 'uid' },
    },
    ...rest,
  };
};

/** The issuer's server. Its documents can be changed, and it counts requests. */
export class IssuerServer {
  keys: readonly unknown[];
  /** The issuer in the discovery document. */
  issuer = issuerUrl;
  /** Whether it drops connections, as if it were down. */
  down = false;
  /** The status of its responses. */
  status = 200;
  /** Whether it accepts requests and never responds. */
  silent = false;
  readonly asked: string[] = [];

  constructor(keys: readonly TestKey[]) {
    this.keys = keys.map(({ jwk }) => jwk);
  }

  readonly fetch: FetchText = async (url) => {
    this.asked.push(url);
    if (this.silent) await new Promise(() => {});
    if (this.down) throw new Error('connect ECONNREFUSED');
    if (url.endsWith('/.well-known/openid-configuration')) {
      return { status: this.status, text: JSON.stringify({ issuer: this.issuer, jwks_uri: `${issuerUrl}/keys` }) };
    }
    if (url === `${issuerUrl}/keys`) return { status: this.status, text: JSON.stringify({ keys: this.keys }) };
    return { status: 404, text: 'nothing here' };
  };
}
