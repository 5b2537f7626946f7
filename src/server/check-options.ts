import { dnsSubdomain } from '../api/names.js';
import { signerPatternViolations } from '../api/signer-name.js';
import { defaultFeatureGates, type FeatureGates } from '../apiserver/feature-gates.js';
import type { ConnectionLimits } from '../http/connection-limits.js';
import type { Signer } from '../pki/signer.js';
import type { EtcdOptions } from '../store/etcd/etcd-options.js';
import type { FrontProxySettings } from './authentication.js';
import type { AuditOptions, OperationsOptions } from './operations.js';
import { authorizationModes, type ServerOptions } from './options.js';
import { isServingName } from './serving-names.js';
import type { CertificateOptions, TrustOptions } from './signing-options.js';

/**
 * Do the options of a server have the form that their types promise? Programs without types are told of what has not, by
 * path, before anything is opened. What values mean is for those who use them to judge. The package that checks files is
 * not used here: it takes longer to load than a server to start.
 */

/** Fails with one sentence if the value at the path is not what it should be. */
type Check = (value: unknown, path: string) => void;
type Checks<T> = { readonly [K in keyof Required<T>]: Check };

const is =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, path) => {
    if (!holds(value)) throw new Error(`option ${path} must be ${what}, not ${told(value)}`);
  };

function told(value: unknown): string {
  if (value === null || ['undefined', 'number', 'boolean'].includes(typeof value)) return String(value);
  if (typeof value === 'string') return JSON.stringify(value.length > 50 ? `${value.slice(0, 50)}…` : value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const text = is('a text that is not empty', isText);
const flag = is('true or false', (value) => typeof value === 'boolean');
/** May be `Infinity`: without limit. */
const amount = is('a number that is not negative', (value) => typeof value === 'number' && value >= 0);
const positive = is('a number above 0', (value) => typeof value === 'number' && value > 0);
const domain = is('a DNS name', (value) => isText(value) && dnsSubdomain(value).length === 0);
const port = is(
  'a whole number from 0 to 65535',
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
);
const callback = is('a function', (value) => typeof value === 'function');
const source = is(
  'a text, or an object with file, the path of one',
  (value) => typeof value === 'string' || (isObject(value) && isText(value['file'])),
);

/** An object with these methods, its own or those of its class. */
const having = (what: string, ...methods: readonly string[]): Check =>
  is(`${what} with the methods ${methods.join(', ')}`, (value) => hasMethods(value, methods));
const hasMethods = (value: unknown, methods: readonly string[]): boolean =>
  isObject(value) && methods.every((method) => typeof value[method] === 'function');

const listOf =
  (each: Check, { least = 0 } = {}): Check =>
  (value, path) => {
    const what = least > 0 ? 'a list that is not empty' : 'a list';
    is(what, (given) => Array.isArray(given) && given.length >= least)(value, path);
    for (const [at, item] of (value as readonly unknown[]).entries()) each(item, `${path}[${at}]`);
  };

/** An object of these members and no others; those named must be there. */
const fields =
  <T>(checks: Checks<T>, ...needed: readonly (keyof T & string)[]): Check =>
  (value, path) => {
    is('an object', isObject)(value, path);
    const given = value as Readonly<Record<string, unknown>>;
    const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
    for (const [name, member] of Object.entries(given)) {
      if (!Object.hasOwn(checks, name)) throw new Error(`there is no option ${at(name)}`);
      if (member !== undefined) checks[name as keyof T](member, at(name));
    }
    for (const name of needed) if (given[name] === undefined) throw new Error(`option ${at(name)} is missing`);
  };

const mode = is(`one of ${authorizationModes.join(', ')}`, (value) => authorizationModes.some((one) => one === value));

const signerName = is(
  'a signer name, or domain/*',
  (value) => typeof value === 'string' && signerPatternViolations('', value).length === 0,
);

/** Made by a class, as often as not, and with members of their own. */
const signer: Check = (value, path) => {
  is('a signer with the method sign', (given) => hasMethods(given, ['sign']))(value, path);
  const { serves, trustAnchors, caNotAfter } = value as Partial<Signer>;
  signerName(serves, `${path}.serves`);
  if (trustAnchors !== undefined) callback(trustAnchors, `${path}.trustAnchors`);
  if (caNotAfter !== undefined) callback(caNotAfter, `${path}.caNotAfter`);
};

const configuredSigner: Check = (value, path) => {
  is('an object', isObject)(value, path);
  signerName((value as Readonly<Record<string, unknown>>)['name'], `${path}.name`);
};

const checks: Checks<ServerOptions> = {
  store: (value, path) => {
    const methods = ['get', 'scan', 'commit', 'changes', 'revision', 'close'];
    const what = `an address, or a store with the methods ${methods.join(', ')}`;
    is(what, (given) => typeof given === 'string' || hasMethods(given, methods))(value, path);
  },
  etcd: fields<EtcdOptions>({
    caFile: text,
    certificateFile: text,
    keyFile: text,
    user: text,
    passwordFile: text,
    prefix: text,
    compactionSeconds: amount,
  }),
  dataDir: text,
  listen: fields<NonNullable<ServerOptions['listen']>>({
    host: text,
    port,
    http2: flag,
    servingNames: listOf(is('a DNS name or an IP address', (value) => isText(value) && isServingName(value))),
    limits: fields<ConnectionLimits>({
      connections: amount,
      headerBytes: amount,
      headersMs: amount,
      requestMs: amount,
      idleMs: amount,
    }),
  }),
  onListening: callback,
  onRenewed: callback,
  onFailed: callback,
  controllers: (value, path) => {
    is("'all' or a list of names", (given) => given === 'all' || Array.isArray(given))(value, path);
    if (value !== 'all') listOf(text)(value, path);
  },
  signers: listOf(signer),
  log: having('a logger', 'debug', 'info', 'warn', 'error', 'child'),
  clock: having('a clock', 'now', 'monotonic', 'sleep'),
  domains: fields<NonNullable<ServerOptions['domains']>>(
    { api: domain, signer: domain, extensions: listOf(text, { least: 1 }) },
    'api',
    'signer',
    'extensions',
  ),
  featureGates: fields<FeatureGates>(mapped(defaultFeatureGates, flag)),
  authenticationWebhook: fields<NonNullable<ServerOptions['authenticationWebhook']>>(
    { kubeconfig: text, cacheSeconds: amount },
    'kubeconfig',
  ),
  authorizationWebhook: fields<NonNullable<ServerOptions['authorizationWebhook']>>(
    { kubeconfig: text, allowedSeconds: amount, refusedSeconds: amount },
    'kubeconfig',
  ),
  webhookServices: (value, path) => {
    is('an object', isObject)(value, path);
    for (const [name, address] of Object.entries(value as object)) text(address, `${path}[${JSON.stringify(name)}]`);
  },
  webhookKubeconfig: text,
  authorization: (value, path) => (Array.isArray(value) ? listOf(mode) : mode)(value, path),
  nodeRestriction: flag,
  anonymous: (value, path) => {
    is('true, false, or an object with paths', (given) => typeof given === 'boolean' || isObject(given))(value, path);
    if (typeof value !== 'boolean') fields<{ readonly paths: unknown }>({ paths: listOf(text) }, 'paths')(value, path);
  },
  clientCa: source,
  frontProxy: fields<FrontProxySettings>(
    {
      ca: source,
      allowedNames: listOf(text),
      usernameHeaders: listOf(text),
      uidHeaders: listOf(text),
      groupHeaders: listOf(text),
      extraHeaderPrefixes: listOf(text),
    },
    'ca',
  ),
  authenticationConfiguration: source,
  serviceAccountIssuers: listOf(text, { least: 1 }),
  apiAudiences: listOf(text),
  serviceAccountMaxTokenSeconds: positive,
  serviceAccountSigningKey: source,
  serviceAccountVerificationKeys: listOf(source),
  serviceAccountKeySetUri: text,
  extendServiceAccountTokens: flag,
  staticTokens: source,
  signingSeconds: positive,
  signingCaFiles: fields<NonNullable<ServerOptions['signingCaFiles']>>(
    { certificateFile: text, keyFile: text },
    'certificateFile',
    'keyFile',
  ),
  certificates: fields<CertificateOptions>({
    signers: listOf(configuredSigner),
    policy: is('an object', isObject),
    expressions: () => {},
    trust: fields<TrustOptions>(
      { owner: text, secretTargets: flag, bundles: listOf(is('an object', isObject)) },
      'bundles',
    ),
  }),
  operations: fields<OperationsOptions>({
    metrics: flag,
    audit: fields<AuditOptions>(
      { policy: source, logFile: text, maxSizeMb: amount, maxBackups: amount },
      'policy',
      'logFile',
    ),
    readOnlyRequests: amount,
    mutatingRequests: amount,
    requestTimeoutMs: amount,
  }),
  eventTtlSeconds: amount,
  shutdownDelayMs: amount,
  graceMs: amount,
};

function mapped<T extends object>(names: T, check: Check): Checks<T> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, check])) as Checks<T>;
}

/** Fails with one sentence that names the option, if one has not the form that its type promises or if there is no such. */
export function checkOptions(options: ServerOptions): void {
  if (!isObject(options)) throw new Error(`the options of a server must be an object, not ${told(options)}`);
  fields<ServerOptions>(checks)(options, '');
}
