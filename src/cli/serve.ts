import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createServer } from '../embed.js';
import { systemClock } from '../runtime/clock.js';
import { createLogger } from '../runtime/pino-logger.js';
import { writeWhole } from '../server/credentials.js';
import { ConfigurationError, type Flags, readConfiguration } from './configuration.js';

/** `kedge serve`: runs until SIGTERM or SIGINT, then drains. */
export async function serve(file: string | undefined, flags: Flags): Promise<void> {
  const configuration = await readConfiguration(file, flags);
  const dataDir = resolve(configuration.dataDir);
  const { logFormat, logLevel } = configuration;
  const pretty = logFormat === 'pretty' || (logFormat === 'auto' && process.stdout.isTTY);
  const log = createLogger({ format: pretty ? 'pretty' : 'json', level: logLevel });
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError(
      `cannot use ${configuration.dataDir} as data directory: ${error.code ?? error.message}`,
    );
  });
  // From here on a signal is kept until the server can be stopped.
  const stopped = untilStopped();
  const { signing, serviceAccounts } = configuration;
  const server = await createServer({
    store: configuration.store ?? `level:${join(dataDir, 'store')}`,
    dataDir: join(dataDir, 'pki'),
    listen: { host: configuration.host, port: configuration.port },
    controllers: configuration.controllers,
    log,
    clock: systemClock,
    domains: { ...configuration.domains, extensions: ['x-kubernetes-', 'x-api-'] },
    authorization: configuration.authorization,
    anonymous: configuration.anonymous,
    ...(configuration.tokenFile === undefined ? {} : { tokenFile: await readText(configuration.tokenFile) }),
    serviceAccountIssuers: serviceAccounts.issuers,
    apiAudiences: serviceAccounts.apiAudiences,
    serviceAccountVerificationKeys: await Promise.all(serviceAccounts.verificationKeyFiles.map(readText)),
    ...(serviceAccounts.maxTokenSeconds === 0
      ? {}
      : { serviceAccountMaxTokenSeconds: serviceAccounts.maxTokenSeconds }),
    signingSeconds: signing.seconds,
    ...(signing.certificateFile === undefined || signing.keyFile === undefined
      ? {}
      : { signingCaFiles: { certificateFile: signing.certificateFile, keyFile: signing.keyFile } }),
    graceMs: configuration.graceMs,
    onListening: async ({ url, adminKubeconfig }) => {
      const kubeconfig = join(dataDir, 'admin.kubeconfig');
      await writeWhole(kubeconfig, adminKubeconfig, 0o600);
      if (pretty) process.stdout.write(greeting(url, kubeconfig));
      log.info({ url, kubeconfig }, 'ready');
    },
  });
  await stopped;
  log.info({}, 'stopping');
  await server.stop();
  log.info({}, 'stopped');
}

const greeting = (url: string, kubeconfig: string): string => `
  Kedge is listening on ${url}

  export KUBECONFIG=${kubeconfig}

  Then try:
    kubectl get namespaces
    kubectl auth whoami
    kubectl explain csr.spec

`;

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export const untilStopped = (): Promise<void> =>
  new Promise((done) => {
    const onSignal = (): void => {
      done();
      process.once('SIGINT', () => process.exit(130));
    };
    process.once('SIGTERM', onSignal);
    process.once('SIGINT', onSignal);
  });
