import { X509Certificate } from 'node:crypto';
import { type FollowOptions, followFiles, prefixErrors } from '../../runtime/text-source.js';

/** The CAs for members with `https://`, and the client certificate. PEM. */
export interface EtcdTls {
  /** The certificate authorities of the members. Default: those that Node.js trusts. */
  readonly ca?: string | undefined;
  /** The client certificate, followed by intermediate certificates. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** A user of etcd's own authentication. */
export interface EtcdLogin {
  readonly user: string;
  readonly password: string;
}

export interface EtcdSecrets {
  readonly tls?: EtcdTls | undefined;
  readonly login?: EtcdLogin | undefined;
}

/** The files of the secrets; each is read again when it changes. */
export interface EtcdFiles {
  /** The file with the CAs of members with `https://`, in PEM. Default: those that Node.js trusts. */
  readonly caFile?: string | undefined;
  /** The file with the client certificate for members with `https://`, in PEM. Requires `keyFile`. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** A user of etcd's own authentication. Requires `passwordFile`. */
  readonly user?: string | undefined;
  /** The file with the user's password; a trailing line break is ignored. */
  readonly passwordFile?: string | undefined;
}

/**
 * Passes on the secrets in the files, now and whenever one of the files changes. Fails, naming the options, if a file
 * cannot be read now or has the wrong content.
 */
export async function followSecrets(
  { caFile, certificateFile, keyFile, user, passwordFile }: EtcdFiles,
  take: (secrets: EtcdSecrets) => void,
  following: FollowOptions,
): Promise<void> {
  const named = [caFile, certificateFile, keyFile, passwordFile];
  const files = named.filter((file) => file !== undefined);
  if (files.length === 0) return take({});
  const takeTexts = (texts: readonly string[]): void => {
    const text = (file: string | undefined): string | undefined =>
      file === undefined ? undefined : texts[files.indexOf(file)];
    const ca = text(caFile);
    // Without this check, a text without a certificate would count as no CA at all.
    if (ca !== undefined) new X509Certificate(ca);
    const password = text(passwordFile)?.replace(/\r?\n$/, '');
    take({
      tls: { ca, certificate: text(certificateFile), key: text(keyFile) },
      login: user === undefined || password === undefined ? undefined : { user, password },
    });
  };
  await prefixErrors('etcd', () => followFiles(files, takeTexts, following));
}
