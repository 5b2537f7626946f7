import { createRequire } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { controllerNameProblem, controllerNames } from '../server/controller-names.js';
import { isServingName } from '../server/serving-names.js';
import { ConfigurationError, type Flags } from './configuration.js';

/**
 * Runs the command line. Returns the exit status: 0 for success, 1 for failure (one sentence on standard error), 2 for
 * wrong usage.
 */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  // The reader of a stream may be gone; that must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const program = new Command('kedge')
    .description('A Kubernetes-style control plane for identity, certificates and trust')
    .version(createRequire(import.meta.url)('../../package.json').version)
    .exitOverride()
    .showHelpAfterError(false);

  addServe(program);
  addControllers(program);
  addCertificates(program);
  addCa(program);
  addStore(program);
  addDemo(program);

  try {
    await program.parseAsync([...argv]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof ConfigurationError || (error instanceof Error && process.env['KEDGE_DEBUG'] === undefined)) {
      process.stderr.write(`kedge: ${error.message}\n`);
      return 1;
    }
    throw error;
  }
}

const logLevel = (): Option =>
  new Option('--log-level <level>', 'lowest level to log; default: info').choices(['debug', 'info', 'warn', 'error']);
const logFormat = (): Option =>
  new Option('--log-format <format>', 'log format; default: pretty on a terminal, otherwise json').choices([
    'pretty',
    'json',
  ]);

function addServe(program: Command): void {
  program
    .command('serve')
    .description('run the API server with its store and controllers')
    .option('--port <port>', 'port to accept connections on; 0 picks a free one; default: 6443', readPort)
    .option('--host <host>', 'address to accept connections on; default: 127.0.0.1', readText)
    .option(
      '--serving-names <list>',
      'DNS names and IP addresses by which clients reach the server, the preferred one first',
      readNames,
    )
    .option(
      '--data-dir <directory>',
      'directory for keys, certificates, admin.kubeconfig and the store; default: ./.kedge',
      readText,
    )
    .option(
      '--store <address>',
      'memory: | level:DIR | etcd:[https://]HOST:PORT,...; default: level: under the data directory',
      readText,
    )
    .option('--config <file>', 'options file; see config/server.yaml')
    .option('--controllers <list>', "built-in controllers to run, comma-separated; '' for none; default: all", readList)
    .addHelpText('after', controllerHelp)
    .addOption(logLevel())
    .addOption(logFormat())
    .action(async ({ config, ...flags }: { readonly config?: string } & Flags) => {
      const { serve } = await import('./serve.js');
      await serve(config, flags);
    });
}

function addControllers(program: Command): void {
  program
    .command('controllers')
    .description('run the built-in controllers against another server')
    .requiredOption('--kubeconfig <file>', 'server and identity to use; required')
    .option('--controllers <list>', 'controllers to run, comma-separated; default: all', readList)
    .addHelpText('after', controllerHelp)
    .option('--config <file>', 'options file; only signing, certificatePolicy, trust and domains are used')
    .option('--ca-cert <file>', 'PEM certificate of the CA that signs for the well-known signers')
    .option('--ca-key <file>', 'PEM key of that CA')
    .option(
      '--lease <namespace/name>',
      'elect a leader with this Lease: only its holder runs the controllers',
      readObjectName('a Lease'),
    )
    .option(
      '--probe-address <[host:]port>',
      'serve /healthz, /readyz and /metrics here, over plain HTTP; default: off',
      readAddress,
    )
    .addOption(logLevel())
    .addOption(logFormat())
    .action(async (flags, command: Command) => {
      if ((flags.caCert === undefined) !== (flags.caKey === undefined))
        command.error('error: --ca-cert and --ca-key go together');
      const { runControllers } = await import('./controllers.js');
      await runControllers(flags);
    });
}

function addCertificates(program: Command): void {
  program
    .command('certificates')
    .description('list issued certificates, those that expire first at the top')
    .option('--kubeconfig <file>', 'server and identity to use; default: those that kubectl uses')
    .option('--signer <name>', 'only those of this signer')
    .option('--requester <name>', 'only those requested by this user')
    .option('--name <text>', 'only those with this common name or alternative name')
    .option('--expires-within <period>', 'only those that expire within this time, such as 30d, 12h or 45m', readPeriod)
    .option('--expired', 'include expired ones')
    .addOption(new Option('--output <format>', 'output format').choices(['table', 'json']).default('table'))
    .addOption(
      // The whole ledger is verified, regardless of the selection.
      new Option('--verify', 'check that nothing was changed or removed, and print the end of the ledger').conflicts([
        'signer',
        'requester',
        'name',
        'expiresWithin',
        'expired',
        'output',
      ]),
    )
    .option('--noted <end>', 'with --verify: an end printed earlier, which must still be in the ledger', readNoted)
    .action(async (flags, command: Command) => {
      // The given end of the ledger is to be verified.
      if (flags.noted !== undefined && flags.verify !== true) command.error('error: --noted needs --verify');
      const { certificates } = await import('./certificates.js');
      await certificates(flags);
    });
}

function addCa(program: Command): void {
  const ca = program.command('ca').description('manage certificate authorities that Kedge keeps in Secrets');
  ca.command('status')
    .description('show each CA and the state of its rotation')
    .option('--kubeconfig <file>', 'server and identity to use; default: those that kubectl uses')
    .action(async (flags: { readonly kubeconfig?: string }) => {
      const { caStatus } = await import('./ca.js');
      await caStatus(flags);
    });
  ca.command('rotate')
    .description('replace a CA: its successor is announced now and signs once clients have had time to trust it')
    .argument('<secret>', 'namespace/name of its Secret', readObjectName('a Secret'))
    .option('--kubeconfig <file>', 'server and identity to use; default: those that kubectl uses')
    .action(async (secret: ObjectName, flags: { readonly kubeconfig?: string }) => {
      const { rotateCa } = await import('./ca.js');
      await rotateCa(secret, flags);
    });
}

function addStore(program: Command): void {
  const store = program.command('store').description('manage stores that no server is using');
  store
    .command('copy')
    .description('copy everything in a store to a new one: from the embedded store to etcd, or back')
    .argument('<from>', 'level:DIR | etcd:[https://]HOST:PORT,...', readText)
    .argument('<to>', 'the same; the directory or etcd prefix must be empty', readText)
    .option('--config <file>', 'options file; only etcd and encryptionConfigFile are used')
    .option('--leave-unreadable', 'skip and list objects that cannot be decrypted because their key is lost')
    .action(
      async (from: string, to: string, flags: { readonly config?: string; readonly leaveUnreadable?: boolean }) => {
        const { copy } = await import('./store.js');
        await copy(from, to, flags);
      },
    );
}

function addDemo(program: Command): void {
  program
    .command('demo')
    .description('show how certificates are requested, approved and signed, step by step')
    .option('--kubeconfig <file>', 'server to use; default: a temporary one')
    .action(async (flags: { readonly kubeconfig?: string }) => {
      const { demo } = await import('./demo.js');
      await demo(flags);
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('must be a number from 0 to 65535.');
  return port;
}

function readText(text: string): string {
  if (text === '') throw new InvalidArgumentError('it must not be empty.');
  return text;
}

function readNames(text: string): string[] {
  const names = text.split(',');
  if (!names.every(isServingName))
    throw new InvalidArgumentError('must be DNS names and IP addresses, comma-separated.');
  return names;
}

/** Parses a period to milliseconds. */
function readPeriod(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? [];
  if (count === '') throw new InvalidArgumentError('must be a number of minutes, hours or days: 45m, 12h, 30d.');
  return Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
}

function readNoted(text: string): { readonly sequence: number; readonly hash: string } {
  if (text === 'empty') return { sequence: 0, hash: '' };
  const [, sequence = '', hash = ''] = /^([1-9]\d*):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === '') throw new InvalidArgumentError('must be NUMBER:HASH or empty, as --verify prints it.');
  return { sequence: Number(sequence), hash };
}

interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

const readObjectName =
  (kind: string) =>
  (text: string): ObjectName => {
    const [namespace = '', name = '', ...more] = text.split('/');
    if (namespace === '' || name === '' || more.length > 0)
      throw new InvalidArgumentError(`${kind} must be namespace/name.`);
    return { namespace, name };
  };

/** Parses an address: `8080`, `:8080`, `127.0.0.1:8080`, `[::1]:8080`. */
function readAddress(text: string): { readonly host: string | undefined; readonly port: number } {
  const [, host, port = ''] = /^(?:(\[[^\]]+\]|[^:[\]]*):)?(\d+)$/.exec(text) ?? [];
  if (port === '') throw new InvalidArgumentError('must be a port or host:port.');
  return { host: host?.replace(/^\[|\]$/g, '') || undefined, port: readPort(port) };
}

function readList(text: string): 'all' | string[] {
  if (text === 'all') return 'all';
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const problem = controllerNameProblem(names);
  if (problem !== undefined) throw new InvalidArgumentError(`${problem}.`);
  return names;
}

const controllerHelp = `
Controllers: ${controllerNames.join(', ')}`;
