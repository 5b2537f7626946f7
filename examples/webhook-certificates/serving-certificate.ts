import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CertificateSigningRequests,
  certificatePem,
  createCertificateRequest,
  defineKeyedController,
  generateKey,
  isDenied,
  isFailed,
  privateKeyPem,
  type Runnable,
  readPemCertificates,
  sharedCache,
} from 'kedge';

const oneMinute = 60_000;

export interface WantedCertificate {
  readonly signerName: string;
  readonly dnsNames: readonly string[];
  readonly expirationSeconds: number;
  /** The directory to which the certificate and its key are written. */
  readonly directory: string;
}

export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/**
 * Requests a serving certificate, runs a server once it is issued, and requests the next one after two thirds of its
 * lifetime. A server that follows its files needs no restart.
 */
export function withServingCertificate(
  options: WantedCertificate,
  serverOf: (files: CertificateFiles) => Runnable,
): Runnable {
  const { directory } = options;
  const files = { certificateFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
  return {
    name: 'serving-certificate',
    async run(context) {
      let written = (): void => {};
      const first = new Promise<void>((resolve) => (written = resolve));
      context.signal.addEventListener('abort', written);
      await Promise.all([
        renewal(options, files, written).run(context),
        first.then(() => (context.signal.aborted ? undefined : serverOf(files).run(context))),
      ]);
    },
  };
}

/** Renews the certificate, the only key of the controller, with the queue, retries and log lines of any controller. */
const renewal = (options: WantedCertificate, files: CertificateFiles, written: () => void): Runnable =>
  defineKeyedController<string>('serving-certificate', (context) => {
    const { client, clock } = context;
    const { signerName, dnsNames, expirationSeconds, directory } = options;
    const requests = client.resource(CertificateSigningRequests);
    let pending: { readonly name: string; readonly key: string } | undefined;
    let renewAt = 0;

    async function ask() {
      const key = await generateKey('P-256');
      const request = Buffer.from(await createCertificateRequest({ subject: {}, key, dnsNames })).toString('base64');
      const { metadata } = await requests.create({
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { generateName: 'webhook-serving-' },
        spec: { signerName, request, expirationSeconds, usages: ['digital signature', 'server auth'] },
      });
      return { name: metadata.name ?? '', key: privateKeyPem(key) };
    }

    return {
      identity: (file) => file,
      backoff: { baseMs: 1_000, capMs: oneMinute },

      start(wake) {
        const fieldSelector = `spec.signerName=${signerName}`;
        sharedCache(context, CertificateSigningRequests, { fieldSelector }).changes.subscribe(({ type, object }) => {
          if (object.metadata.name === pending?.name) wake(files.certificateFile, `request ${type}`);
        });
        wake(files.certificateFile, 'start');
      },

      async reconcile() {
        if (clock.now() < renewAt) return { requeueAfterMs: renewAt - clock.now() };
        pending ??= await ask();
        const { name, key } = pending;
        const request = await requests.get({ name });
        if (request === undefined || isDenied(request) || isFailed(request)) {
          pending = undefined;
          const reason = request?.status?.conditions?.map(({ message }) => message).join(', ') ?? 'it is gone';
          throw new Error(`request ${name} came to nothing: ${reason}`);
        }
        const certificate = certificatePem(request);
        // The watch wakes the controller when the certificate is issued.
        if (certificate === undefined) return;
        await mkdir(directory, { recursive: true });
        // The server loads the files once they match.
        await replace(files.keyFile, key);
        await replace(files.certificateFile, certificate);
        pending = undefined;
        const lifeMs = (readPemCertificates(certificate)[0]?.notAfter ?? 0) - clock.now();
        // At least a minute, so that a wrong clock does not cause a tight loop.
        renewAt = clock.now() + Math.max((lifeMs * 2) / 3, oneMinute);
        written();
        return { requeueAfterMs: renewAt - clock.now() };
      },
    };
  });

/** Replaces a file atomically: concurrent readers see either the old or the new text. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
