import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { defaultDomains } from '../api/domains.js';
import { createServer } from '../embed.js';
import type { ConnectionLimits } from '../http/connection-limits.js';
import { writeFileAtomically } from '../runtime/atomic-file.js';
import { systemClock } from '../runtime/clock.js';
import { makeDirectory } from '../runtime/make-directory.js';
import { createLogger } from '../runtime/pino-logger.js';
import type { ServingFiles } from '../server/serving-files.js';
import { accessOptions, inFile, withKubeconfig } from './access-options.js';
import { certificatesOptions, signingCaFiles } from './certificates-options.js';
import { ConfigurationError, type Flags, readConfiguration } from './configuration.js';
import type { Configuration } from './configuration-options.js';
import { firstCrash } from './crash-log.js';
import { shellWord } from './shell-word.js';
import { untilStopped } from './until-stopped.js';

/**
 * V8 flags that determine when incremental marking begins: when 80% of the space is used that V8 gives the heap beyond
 * the live objects of the last collection; at 95%, it hurries. By default, marking begins when no more space is left
 * than the young generation may take, which in a heap of about 30 MB is almost at once. The space itself does not
 * change.
 */
const markingTriggers = '--incremental-marking-soft-trigger=80 --incremental-marking-hard-trigger=95';

/** Implements `kedge serve`: runs the server until SIGTERM or SIGINT, then drains it. */
export async function serve(file: string | undefined, flags: Flags): Promise<void> {
  setFlagsFromString(markingTriggers);
  const configuration = await readConfiguration(file, flags);
  const dataDir = resolve(configuration.dataDir);
  const { logFormat, logLevel } = configuration;
  const pretty = logFormat === 'pretty' || (logFormat === 'auto' && process.stdout.isTTY);
  const log = createLogger({ format: pretty ? 'pretty' : 'json', level: logLevel });
  await makeDirectory(dataDir, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError(
      `cannot use ${configuration.dataDir} as data directory: ${error.code ?? error.message}`,
    );
  });
  // From here on, a signal is remembered until the server can be stopped.
  const stopped = untilStopped();
  const crashed = firstCrash(log);
  let onFailed = (_: Error): void => {};
  const failed = new Promise<Error>((resolve) => {
    onFailed = resolve;
  });
  const kubeconfig = join(dataDir, 'admin.kubeconfig');
  const { signing } = configuration;
  const caFiles = signingCaFiles(signing);
  const server = await createServer({
    store: configuration.store ?? `level:${join(dataDir, 'store')}`,
    etcd: configuration.etcd,
    ...inFile('encryptionConfiguration', 'encryptionConfigFile', configuration.encryptionConfigFile),
    dataDir: join(dataDir, 'pki'),
    listen: {
      host: configuration.host,
      port: configuration.port,
      http2: configuration.http2,
      servingNames: configuration.servingNames,
      ...givenServing(configuration.serving),
      limits: connectionLimits(configuration),
    },
    controllers: configuration.controllers,
    log,
    clock: systemClock,
    domains: { ...defaultDomains, ...configuration.domains },
    webhookServices: Object.fromEntries(configuration.webhookServices.map((one) => [one.service, one.address])),
    ...(configuration.webhookKubeconfig === undefined ? {} : { webhookKubeconfig: configuration.webhookKubeconfig }),
    featureGates: configuration.featureGates,
    ...accessOptions(configuration),
    signingSeconds: signing.seconds,
    ...(caFiles === undefined ? {} : { signingCaFiles: caFiles }),
    certificates: certificatesOptions(configuration),
    ...operationsOf(configuration),
    ledgerRetentionDays: configuration.ledgerRetentionDays,
    eventTtlSeconds: configuration.eventTtlSeconds,
    graceMs: configuration.graceMs,
    onFailed,
    onListening: async ({ url, adminKubeconfig }) => {
      await writeFileAtomically(kubeconfig, adminKubeconfig, 0o600);
      if (pretty) process.stdout.write(greeting(url, kubeconfig));
      log.info({ url, kubeconfig }, 'ready');
    },
    onRenewed: ({ adminKubeconfig }) => writeFileAtomically(kubeconfig, adminKubeconfig, 0o600),
  });
  const crash = await Promise.race([stopped, crashed, failed]);
  log.info({}, 'stopping');
  await server.stop();
  log.info({}, 'stopped');
  if (crash !== undefined) throw new Error(`stopped after a fault: ${crash.message}`, { cause: crash });
}

/** Returns the serving certificate, if the configuration names one. */
const givenServing = ({
  certificateFile,
  keyFile,
  caFile,
}: Configuration['serving']): { readonly serving?: ServingFiles } =>
  certificateFile === undefined || keyFile === undefined || caFile === undefined
    ? {}
    : { serving: { certificateFile, keyFile, caFile } };

/** The margin by which Node's own request timeout for HTTP/1.1 exceeds ours, which sends a response. */
const afterTimeoutMs = 30_000;

const connectionLimits = ({ limits }: Configuration): ConnectionLimits => ({
  connections: limits.connections,
  headerBytes: limits.headerBytes,
  headersMs: limits.headersMs,
  idleMs: limits.idleMs,
  requestMs: Math.max(limits.requestTimeoutMs, limits.headersMs) + afterTimeoutMs,
});

const operationsOf = ({
  metrics,
  audit: { policyFile, webhook, ...audit },
  limits,
  shutdownDelayMs,
}: Configuration) => ({
  shutdownDelayMs,
  operations: {
    metrics,
    ...(policyFile === undefined
      ? {}
      : {
          audit: {
            ...audit,
            policy: { file: policyFile, option: 'audit.policyFile' },
            ...withKubeconfig('webhook', webhook),
          },
        }),
    readOnlyRequests: limits.readOnlyRequests,
    mutatingRequests: limits.mutatingRequests,
    watches: limits.watches,
    requestTimeoutMs: limits.requestTimeoutMs,
  },
});

const greeting = (url: string, kubeconfig: string): string => `
  Kedge is listening on ${url}

  export KUBECONFIG=${shellWord(kubeconfig)}

  Then try:
    kubectl get namespaces
    kubectl auth whoami
    kubectl explain csr.spec

`;
