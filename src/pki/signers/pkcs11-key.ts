import { createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { AlgorithmIdentifier } from '../asn1-reader.js';
import { readPemCertificates } from '../certificate.js';
import { tags } from '../der.js';
import { derNull, encode, encodeOid, sequence, unsignedInteger } from '../der-writer.js';
import { ecdsaSignatures } from '../ecdsa.js';
import type { SigningKey } from '../key-pair.js';
import { oids } from '../oids.js';
import { PkiError } from '../pki-error.js';
import type { Curve, PublicKey } from '../public-key.js';
import { verifySignature } from '../signature.js';

/**
 * A CA's private key in a token: a hardware module, or SoftHSM. It never leaves the token; the token signs. Requires
 * the package `pkcs11js`, which is not a dependency because it is compiled during installation.
 */
export interface Pkcs11KeyOptions {
  /** The path of the module's shared library. */
  readonly library: string;
  /** The label of the token. */
  readonly token: string;
  readonly pin: string;
  /** The label of the private key. */
  readonly key: string;
  /** The CA's certificate in PEM, which determines the type of the key and verifies its signatures. */
  readonly certificate: string;
}

/** A key in a token (PKCS#11), which signs with it. */
export interface Pkcs11Key extends SigningKey {
  /** Closes the session, after signing in progress has ended. */
  close(): void;
}

/** The part of the package that is used here. */
interface Pkcs11 {
  load(library: string): void;
  close(): void;
  C_Initialize(): void;
  C_Finalize(): void;
  C_GetSlotList(tokenPresent: boolean): Buffer[];
  C_GetTokenInfo(slot: Buffer): { readonly label: string };
  C_OpenSession(slot: Buffer, flags: number): Buffer;
  C_CloseSession(session: Buffer): void;
  C_Login(session: Buffer, userType: number, pin: string): void;
  C_FindObjectsInit(session: Buffer, template: readonly { readonly type: number; readonly value: unknown }[]): void;
  C_FindObjects(session: Buffer, most: number): Buffer[];
  C_FindObjectsFinal(session: Buffer): void;
  C_SignInit(session: Buffer, mechanism: { readonly mechanism: number }, key: Buffer): void;
  C_SignAsync(session: Buffer, data: Buffer, into: Buffer): Promise<Buffer>;
}

const packageName = 'pkcs11js';
/** As in PKCS#11 2.40. */
const flags = { serialSession: 4 } as const;
const attributes = { class: 0x0, label: 0x3 } as const;
const privateKeyClass = 3;
const normalUser = 1;
const mechanisms = { ecdsa: 0x1041, sha256Rsa: 0x40 } as const;
const alreadyLoggedIn = 0x100;
const mostSignatureBytes = 2_048;

interface SignatureScheme {
  readonly algorithm: AlgorithmIdentifier;
  readonly mechanism: number;
  prepare(data: Buffer): Buffer;
  finish(signature: Buffer): Buffer;
}

const ecdsa = ({ hash, oid }: (typeof ecdsaSignatures)[Curve]): SignatureScheme => ({
  algorithm: { oid, parameters: Buffer.alloc(0) },
  mechanism: mechanisms.ecdsa,
  prepare: (data) => createHash(hash).update(data).digest(),
  // The token returns the concatenation of r and s (PKCS#11 2.3.1); certificates contain them as integers.
  finish: (raw) =>
    encode(
      tags.sequence,
      unsignedInteger(raw.subarray(0, raw.length / 2)),
      unsignedInteger(raw.subarray(raw.length / 2)),
    ),
});
const rsa: SignatureScheme = {
  algorithm: { oid: oids.sha256WithRsa, parameters: derNull },
  mechanism: mechanisms.sha256Rsa,
  prepare: (data) => data,
  finish: (signature) => signature,
};

const schemeFor = ({ kind, curve }: PublicKey): SignatureScheme | undefined =>
  kind === 'RSA' ? rsa : curve === undefined ? undefined : ecdsa(ecdsaSignatures[curve]);

/**
 * A library in use. It is initialized once per process, and called by one task at a time, because not all libraries
 * support more.
 */
interface Library {
  readonly module: Pkcs11;
  keys: number;
  last: Promise<unknown>;
}

const libraries = new Map<string, Library>();

function borrow(path: string): Library {
  const library = libraries.get(path) ?? { module: loadModule(path), keys: 0, last: Promise.resolve() };
  libraries.set(path, library);
  library.keys++;
  return library;
}

function releaseLibrary(path: string, library: Library): void {
  if (--library.keys > 0) return;
  libraries.delete(path);
  library.module.C_Finalize();
  library.module.close();
}

function inTurn<T>(library: Library, run: () => T | Promise<T>): Promise<T> {
  const done = library.last.then(run);
  library.last = done.catch(() => {});
  return done;
}

/**
 * Opens a key in a token, logs in, and tries the key. Throws PkiError (`authority`) if package, library, token or key
 * are missing, or if the key is neither RSA nor on a NIST curve, or does not match the certificate; messages never
 * contain the PIN. A session that breaks off is opened again for the next signature.
 */
export async function openPkcs11Key(options: Pkcs11KeyOptions): Promise<Pkcs11Key> {
  const [certificate] = readPemCertificates(options.certificate);
  if (certificate === undefined) throw new PkiError('authority', 'the certificate of the CA is missing');
  const { publicKey } = certificate;
  const scheme = schemeFor(publicKey);
  if (scheme === undefined) throw new PkiError('authority', `only RSA and ECDSA keys in tokens are supported`);
  const library = borrow(options.library);
  const { module } = library;
  let opened: OpenKey | undefined;
  const drop = (): void => {
    if (opened !== undefined) closeSession(module, opened.session);
    opened = undefined;
  };
  const sign = (data: Buffer): Promise<Buffer> =>
    inTurn(library, async () => {
      try {
        opened ??= openKey(module, options);
        module.C_SignInit(opened.session, { mechanism: scheme.mechanism }, opened.key);
        const into = Buffer.alloc(mostSignatureBytes);
        return scheme.finish(await module.C_SignAsync(opened.session, scheme.prepare(data), into));
      } catch (error) {
        drop();
        if (error instanceof PkiError) throw error;
        const detail = error instanceof Error ? `: ${error.message}` : '';
        throw new PkiError('authority', `the token ${JSON.stringify(options.token)} cannot be used${detail}`, {
          cause: error,
        });
      }
    });
  const close = (): void =>
    void inTurn(library, () => {
      drop();
      releaseLibrary(options.library, library);
    });
  try {
    const data = randomBytes(32);
    verifySignature({ algorithm: scheme.algorithm, data, signature: await sign(data) }, publicKey);
  } catch (error) {
    close();
    if (!(error instanceof PkiError) || error.problem !== 'signature') throw error;
    throw new PkiError('authority', `the key ${JSON.stringify(options.key)} is not that of the certificate`, {
      cause: error,
    });
  }
  const identifier = sequence(encodeOid(scheme.algorithm.oid), scheme.algorithm.parameters);
  return { spki: publicKey.spki, identifier, sign, close };
}

function loadModule(library: string): Pkcs11 {
  let PKCS11: new () => Pkcs11;
  try {
    ({ PKCS11 } = createRequire(import.meta.url)(packageName) as { readonly PKCS11: new () => Pkcs11 });
  } catch (cause) {
    throw new PkiError('authority', `keys in tokens need the package ${packageName}: npm install ${packageName}`, {
      cause,
    });
  }
  const module = new PKCS11();
  try {
    module.load(library);
    module.C_Initialize();
  } catch (cause) {
    throw new PkiError('authority', `cannot load the PKCS#11 library ${library}`, { cause });
  }
  return module;
}

/** Closes a session; errors are ignored, because a session that broke off need not be closed. */
function closeSession(module: Pkcs11, session: Buffer): void {
  try {
    module.C_CloseSession(session);
  } catch {}
}

interface OpenKey {
  readonly session: Buffer;
  readonly key: Buffer;
}

function openKey(module: Pkcs11, { token, pin, key: label }: Pkcs11KeyOptions): OpenKey {
  const slot = module.C_GetSlotList(true).find((one) => textOf(module.C_GetTokenInfo(one).label) === token);
  if (slot === undefined) throw new PkiError('authority', `no token ${JSON.stringify(token)}`);
  const session = module.C_OpenSession(slot, flags.serialSession);
  try {
    logIn(module, session, pin);
    module.C_FindObjectsInit(session, [
      { type: attributes.class, value: privateKeyClass },
      { type: attributes.label, value: label },
    ]);
    const keys = module.C_FindObjects(session, 2);
    module.C_FindObjectsFinal(session);
    const [key] = keys;
    if (key === undefined) throw new PkiError('authority', `the token has no private key ${JSON.stringify(label)}`);
    if (keys.length > 1) throw new PkiError('authority', `the token has several private keys ${JSON.stringify(label)}`);
    return { session, key };
  } catch (error) {
    closeSession(module, session);
    throw error;
  }
}

/** Logs in to a token. The login applies to all sessions of the process. */
function logIn(module: Pkcs11, session: Buffer, pin: string): void {
  try {
    module.C_Login(session, normalUser, pin);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== alreadyLoggedIn) throw error;
  }
}

/** Removes the blanks with which labels are padded. */
const textOf = (label: string): string => label.replace(/[\0 ]+$/, '');
