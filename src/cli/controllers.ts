import { builtinControllers } from '../../controllers/index.js';
import { ledgerEntryName } from '../api/certificate-ledger.js';
import { defaultDomains } from '../api/domains.js';
import { isReason } from '../api/errors.js';
import { CertificateLedgerEntries } from '../api/kinds/certificate-ledger-entry.js';
import { isOwnVersion } from '../apiserver/version.js';
import type { Client } from '../client/client.js';
import { domainClient } from '../client/domain-client.js';
import { connect } from '../client/remote-client.js';
import { controllerMetrics } from '../controller/controller-metrics.js';
import { whileLeading } from '../controller/leader.js';
import { createManager } from '../controller/manager.js';
import { probeServer } from '../controller/probe-server.js';
import { systemClock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import { type Metrics, openMetrics } from '../runtime/metrics.js';
import { createLogger } from '../runtime/pino-logger.js';
import { measureCaEnds } from '../server/certificate-metrics.js';
import { certificateControllers } from '../server/certificate-rights.js';
import { rotationMetrics } from '../server/rotation-metrics.js';
import { measureWaitingRequests, signerRequests } from '../server/signer-metrics.js';
import { type OpenedSigners, openSigners } from '../server/signers.js';
import { certificatesOptions, signingCaFiles } from './certificates-options.js';
import { readConfiguration } from './configuration.js';
import { firstCrash } from './crash-log.js';
import { untilStopped } from './until-stopped.js';

export interface ControllersFlags {
  readonly kubeconfig: string;
  /** The configuration file, of which `signing`, `certificatePolicy`, `trust` and `domains` are used. */
  readonly config?: string;
  readonly controllers?: 'all' | readonly string[];
  /** The files of the CA: both or none. They override those of the configuration. */
  readonly caCert?: string;
  readonly caKey?: string;
  /** The Lease to hold while the controllers run. */
  readonly lease?: { readonly namespace: string; readonly name: string };
  /** The address for probes and metrics; none if absent. */
  readonly probeAddress?: { readonly host: string | undefined; readonly port: number };
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat?: 'pretty' | 'json';
}

/** The controllers that sign tokens with the key of the server, or need its schemas. */
const onlyInServer: readonly string[] = ['service-account-token', 'policy-status'];

/** Implements `kedge controllers`: runs the controllers of the server as a separate program. */
export async function runControllers(flags: ControllersFlags): Promise<void> {
  const names = flags.controllers ?? 'all';
  const format = flags.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json');
  const log = createLogger({ format, level: flags.logLevel ?? 'info' });
  const crashed = firstCrash(log);
  const configuration = await readConfiguration(flags.config, {});
  const domains = { ...defaultDomains, ...configuration.domains };
  const remote = await connect({ kubeconfig: flags.kubeconfig });
  const client = domainClient(domains, remote);
  const stopping = new AbortController();
  const certificates = certificatesOptions(configuration);
  const { signers, rotated, ended } = await openSigners({
    caFiles: signingCaFiles({
      ...configuration.signing,
      ...(flags.caCert === undefined ? {} : { certificateFile: flags.caCert, keyFile: flags.caKey }),
    }),
    maxSeconds: configuration.signing.seconds,
    configured: certificates.signers,
    trust: certificates.trust,
    own: [],
    client: () => client,
    domains,
    clock: systemClock,
    log,
    signal: stopping.signal,
  });
  const certificateLedger = await hasLedger(client, remote.serverVersion);
  if (!certificateLedger) log.warn({}, 'the server has no certificate ledger: what is issued is not recorded');
  const metrics = flags.probeAddress && openMetrics({ process: true });
  const selected = builtinControllers({
    ...certificateControllers(
      certificates,
      rotated,
      metrics && { onOutcome: signerRequests(metrics, signers), onRotation: rotationMetrics(metrics, systemClock) },
    ),
    certificateLedger,
    signers,
    domains,
    storeIsShared: true,
    // Otherwise another controller publishes the CA of the API server, and may know more than a kubeconfig contains.
    ...(names === 'all' || names.includes('root-ca-publisher') ? { rootCa: () => remote.ca } : {}),
  }).filter(({ name }) => names === 'all' || names.includes(name));
  const running = [...new Set(selected.map(({ name }) => name))];
  if (metrics) measureSigners(metrics, signers, { running, client, log, signal: stopping.signal });
  tellRunning(log, names, running);
  const managed = createManager({ client, log, graceMs, metrics: metrics && controllerMetrics(metrics) })
    .add(
      ...(flags.lease === undefined
        ? selected
        : [whileLeading({ lease: flags.lease, graceMs: leaderGraceMs }, ...selected)]),
    )
    .add(...(flags.probeAddress === undefined ? [] : [probeServer({ ...flags.probeAddress, metrics })]))
    .run(stopping.signal);
  const crash = await Promise.race([untilStopped(), crashed, managed]);
  stopping.abort();
  await managed;
  await ended;
  log.info({}, 'stopped');
  if (crash !== undefined) throw new Error(`stopped after a fault: ${crash.message}`, { cause: crash });
}

/** Measures the pending requests of the signers, and when their CAs expire. */
function measureSigners(
  metrics: Metrics,
  signers: OpenedSigners['signers'],
  {
    running,
    client,
    log,
    signal,
  }: {
    readonly running: readonly string[];
    readonly client: Client;
    readonly log: Logger;
    readonly signal: AbortSignal;
  },
): void {
  const kinds = [
    ...(running.includes('csr-signer') ? ['certificates' as const] : []),
    ...(running.includes('pod-certificate-signer') ? ['pods' as const] : []),
  ];
  if (kinds.length === 0) return;
  measureCaEnds(metrics, signers, systemClock);
  measureWaitingRequests(metrics, signers, { kinds, client: () => client, clock: systemClock, log, signal });
}

/** Logs which controllers run, and which of the chosen ones do not. */
function tellRunning(log: Logger, chosen: 'all' | readonly string[], running: readonly string[]): void {
  const absent = onlyInServer.filter((name) => chosen === 'all' || chosen.includes(name));
  if (absent.length > 0)
    log[chosen === 'all' ? 'info' : 'warn'](
      { controllers: absent },
      'not run: these controllers work only inside the server',
    );
  const idle = chosen === 'all' ? [] : chosen.filter((name) => ![...running, ...onlyInServer].includes(name));
  if (idle.length > 0) log.warn({ controllers: idle }, 'enabled, but not configured');
  log.info({ controllers: running }, 'running');
}

/** The time that controllers have to stop, in milliseconds. */
const graceMs = 5_000;
/** The shorter time with leader election, in milliseconds, so that the Lease can be released afterwards. */
const leaderGraceMs = 3_000;

/** Whether the server has the ledger, which only Kedge has and which discovery does not list. */
export async function hasLedger(client: Client, serverVersion: () => Promise<string>): Promise<boolean> {
  try {
    await client.resource(CertificateLedgerEntries).get({ name: ledgerEntryName(1) });
    return true;
  } catch (error) {
    if (isReason(error, 'NotFound')) return false;
    // A missing permission is reported before a missing kind. Reading the version needs no permission.
    if (isReason(error, 'Forbidden') && !isOwnVersion(await serverVersion())) return false;
    throw error;
  }
}
