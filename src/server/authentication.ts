import type { Domains } from '../api/domains.js';
import { parseGoUrl } from '../api/go-url.js';
import type { Secret } from '../api/kinds/secret.js';
import type { AnonymousPolicy } from '../auth/anonymous.js';
import type { AuthenticationMetrics } from '../auth/authentication-metrics.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { TokenAuthenticator } from '../auth/bearer-token.js';
import { defaultAuthenticator } from '../auth/default-authenticator.js';
import { isDiscoverable, keySet, keySetPath, openIdConfiguration } from '../auth/discovery-documents.js';
import type { FrontProxyOptions } from '../auth/front-proxy.js';
import type { FetchText } from '../auth/jwt/fetch-text.js';
import type { ObjectSource } from '../auth/object-source.js';
import { defaultProxyHeaders, type FrontProxyHeaders } from '../auth/proxy-headers.js';
import {
  readSigningKey,
  readVerificationKeys,
  type TokenSigningKey,
  type VerificationKey,
} from '../auth/service-account-keys.js';
import { staticTokens } from '../auth/static-tokens.js';
import { type TokenIssuer, tokenIssuer } from '../auth/token-issuer.js';
import { readPemCertificates } from '../pki/certificate.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { type FollowOptions, followText, type TextSource } from '../runtime/text-source.js';
import type { AuthenticationInfo } from './authentication-info.js';
import { concatenated } from './concatenated.js';
import { openExternalTokens } from './external-tokens.js';

/** Authenticates callers, and issues the tokens of the server. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly issuer: TokenIssuer;
  readonly apiAudiences: readonly string[];
  /** The documents for relying parties as of now; absent if the issuer is no https URL. */
  readonly openId: { readonly configuration: object; readonly keys: object } | undefined;
  /** Returns how callers are authenticated as of now. */
  info(): AuthenticationInfo;
  /** Returns the CAs in PEM of clients and of the proxy as of now. */
  clientCas(): string;
}

/** A proxy that authenticates callers and passes on their identity in headers. */
export interface FrontProxySettings extends Omit<FrontProxyOptions, 'bundle' | 'clock'> {
  /** CAs in PEM of the proxy's certificates. They must not be CAs of clients. */
  readonly ca: TextSource;
}

export interface AuthenticationOptions {
  /** The private key in PEM that signs service account tokens. */
  readonly signingKey: TextSource;
  /** Further keys in PEM that verify service account tokens. */
  readonly verificationKeys: readonly TextSource[];
  /** The issuers of tokens: the first one signs, and all are accepted. */
  readonly issuers: readonly string[];
  /** The audiences of this server; by default the first issuer. */
  readonly apiAudiences: readonly string[];
  /** The URI at which relying parties find the keys; by default at this server. */
  readonly keySetUri?: string | undefined;
  /** Returns the host:port at which clients reach this server. */
  serverAddress(): string;
  /** Returns the CAs in PEM of client certificates. */
  readonly clientCa: () => string;
  /** Further CAs in PEM of client certificates. */
  readonly moreClientCas?: TextSource | undefined;
  /** The static tokens, as CSV. */
  readonly staticTokens?: TextSource | undefined;
  readonly frontProxy?: FrontProxySettings | undefined;
  readonly anonymous: AnonymousPolicy;
  /** An AuthenticationConfiguration, as YAML. Its settings for anonymous requests take precedence over `anonymous`. */
  readonly configuration?: TextSource | undefined;
  /** Authenticates tokens that no other authenticator recognises. */
  readonly webhook?: TokenAuthenticator | undefined;
  /** Fetches documents of issuers; by default over HTTPS. */
  readonly fetch?: FetchText | undefined;
  readonly secretTokenUsed?: ((secret: Secret) => void) | undefined;
  /** Called with the remaining lifetime, in seconds, of the client certificate of every request. */
  readonly certificateLifetimeLeft?: ((seconds: number) => void) | undefined;
  readonly metrics?: AuthenticationMetrics | undefined;
}

interface AuthenticationContext {
  readonly objects: ObjectSource;
  readonly domains: Domains;
  readonly clock: Clock;
  readonly log: Logger;
  /** The signal that ends the reloading of files. */
  readonly signal: AbortSignal;
}

/** Reads keys and files, which are reloaded when they change. Fails if one of them cannot be used. */
export async function openAuthentication(
  options: AuthenticationOptions,
  context: AuthenticationContext,
): Promise<Authentication> {
  const { objects, domains, clock, log } = context;
  const [issuer = ''] = options.issuers;
  checkIssuers(options.issuers);
  if (issuer.startsWith('https:') && !isDiscoverable(issuer))
    log.warn({ issuer }, 'no discovery documents for this issuer: its URL has a query or fragment');
  const apiAudiences = options.apiAudiences.length ? options.apiAudiences : [issuer];
  const keys = await openKeys(options, context);
  const clientCa = await openClientCas(options, context);
  const proxy = await openFrontProxy(options.frontProxy, context);
  const foreign = await openExternalTokens({ ...options, apiAudiences }, context);
  const authenticator = defaultAuthenticator({
    issuers: options.issuers,
    keys: keys.verifying,
    apiAudiences,
    objects,
    domains,
    clock,
    clientBundle: clientCa,
    staticTokens: await openStaticTokens(options.staticTokens, context),
    frontProxy: proxy,
    externalTokens: [foreign.tokens, ...(options.webhook === undefined ? [] : [options.webhook])],
    secretTokenUsed: options.secretTokenUsed,
    certificateLifetimeLeft: options.certificateLifetimeLeft,
    anonymous: foreign.anonymous,
    metrics: options.metrics,
  });
  const keySetUri = (): string => options.keySetUri ?? `https://${options.serverAddress()}${keySetPath}`;
  return {
    authenticator,
    issuer: tokenIssuer({ issuer, key: keys.signing, domains, clock }),
    apiAudiences,
    openId: isDiscoverable(issuer)
      ? {
          get configuration() {
            return openIdConfiguration({ issuer, keySetUri: keySetUri(), keys: keys.verifying() });
          },
          get keys() {
            return keySet(keys.verifying());
          },
        }
      : undefined,
    info: () => ({
      clientCa: clientCa(),
      frontProxy: proxy && { ...proxy, ca: proxy.bundle() },
    }),
    clientCas: () => (proxy === undefined ? clientCa() : `${clientCa()}\n${proxy.bundle()}`),
  };
}

/** Throws Error for issuers of service account tokens that kube-apiserver rejects. */
function checkIssuers(issuers: readonly string[]): void {
  for (const [at, issuer] of issuers.entries()) {
    const issuerText = `the issuer ${JSON.stringify(issuer)} of service account tokens`;
    if (issuers.indexOf(issuer) !== at) throw new Error(`${issuerText} is given twice`);
    const url = issuer.includes(':') ? parseGoUrl(issuer) : undefined;
    if (url !== undefined && 'wrong' in url) throw new Error(`${issuerText} has a ":" and is no URL: ${url.wrong}`);
  }
}

/** Opens the keys of service account tokens, as their files contain them now. */
async function openKeys(
  { signingKey, verificationKeys }: AuthenticationOptions,
  following: FollowOptions,
): Promise<{ signing(): TokenSigningKey; verifying(): readonly VerificationKey[] }> {
  let signing: TokenSigningKey | undefined;
  const others: (readonly VerificationKey[])[] = verificationKeys.map(() => []);
  let all: readonly VerificationKey[] = [];
  const combine = (): void => {
    const known = new Map(
      [...(signing === undefined ? [] : [signing]), ...others.flat()].map((key) => [key.keyId, key]),
    );
    all = [...known.values()];
  };
  await followText(
    signingKey,
    (pem) => {
      signing = readSigningKey(pem);
      combine();
    },
    { ...following, option: 'serviceAccountSigningKey' },
  );
  for (const [at, source] of verificationKeys.entries()) {
    await followText(
      source,
      (pem) => {
        others[at] = readVerificationKeys(pem);
        combine();
      },
      { ...following, option: `serviceAccountVerificationKeys[${at}]` },
    );
  }
  return {
    signing: () => {
      if (signing === undefined) throw new Error('no signing key');
      return signing;
    },
    verifying: () => all,
  };
}

async function openClientCas(
  { clientCa, moreClientCas }: AuthenticationOptions,
  following: FollowOptions,
): Promise<() => string> {
  if (moreClientCas === undefined) return clientCa;
  return concatenated(clientCa, await followCertificates(moreClientCas, { ...following, option: 'clientCa' }), '\n');
}

async function followCertificates(source: TextSource, following: FollowOptions): Promise<() => string> {
  let bundle = '';
  await followText(
    source,
    (pem) => {
      if (readPemCertificates(pem).length === 0) throw new Error('no certificate in the CA bundle');
      bundle = pem;
    },
    following,
  );
  return () => bundle;
}

async function openStaticTokens(
  source: TextSource | undefined,
  following: FollowOptions,
): Promise<TokenAuthenticator | undefined> {
  if (source === undefined) return undefined;
  let tokens: TokenAuthenticator | undefined;
  await followText(
    source,
    (csv) => {
      tokens = staticTokens(csv);
    },
    { ...following, option: 'staticTokens' },
  );
  return { authenticateToken: async (token, audiences) => tokens?.authenticateToken(token, audiences) };
}

type OpenedProxy = FrontProxyHeaders & Required<Pick<FrontProxyOptions, 'allowedNames' | 'bundle'>>;

async function openFrontProxy(
  settings: FrontProxySettings | undefined,
  following: FollowOptions,
): Promise<OpenedProxy | undefined> {
  if (settings === undefined) return undefined;
  const { ca, allowedNames = [], ...headers } = { ...defaultProxyHeaders, ...settings };
  return { ...headers, allowedNames, bundle: await followCertificates(ca, { ...following, option: 'frontProxy.ca' }) };
}
