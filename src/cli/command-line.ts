import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ConfigurationError, type Flags } from './configuration.js';

/** The command line. Answers the exit status: 0, 1 for failure (one sentence on standard error), 2 for wrong usage. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const program = new Command('kedge')
    .description('A Kubernetes-style control plane for identity, certificates and trust')
    .exitOverride()
    .showHelpAfterError(false);

  program
    .command('serve')
    .description('run the API server with its store and controllers')
    .option('--port <port>', 'port to accept connections on; 0 picks a free one', readPort)
    .option('--host <host>', 'address to accept connections on', readText)
    .option('--data-dir <directory>', 'where keys, certificates, admin.kubeconfig and the store are kept', readText)
    .option('--store <address>', 'memory: | level:DIR | etcd:HOST:PORT,...', readText)
    .option('--config <file>', 'options file; see config/server.yaml')
    .option('--controllers <list>', "built-in controllers to run, comma-separated; 'all', or '' for none", readList)
    .addOption(new Option('--log-level <level>', 'least level to log').choices(['debug', 'info', 'warn', 'error']))
    .addOption(new Option('--log-format <format>', 'default: pretty on a terminal').choices(['pretty', 'json']))
    .action(async ({ config, ...flags }: { readonly config?: string } & Flags) => {
      const { serve } = await import('./serve.js');
      await serve(config, flags);
    });

  program
    .command('controllers')
    .description('run the built-in controllers against a server elsewhere')
    .requiredOption('--kubeconfig <file>', 'server and identity to use')
    .option('--controllers <list>', "controllers to run, comma-separated; default 'all'", readList)
    .option('--ca-cert <file>', 'PEM certificate of the CA that signs for the well-known signers')
    .option('--ca-key <file>', 'PEM key of that CA')
    .addOption(new Option('--log-level <level>', 'least level to log').choices(['debug', 'info', 'warn', 'error']))
    .addOption(new Option('--log-format <format>', 'default: pretty on a terminal').choices(['pretty', 'json']))
    .action(async (flags) => {
      const { runControllers } = await import('./controllers.js');
      await runControllers(flags);
    });

  program
    .command('demo')
    .description('play the story of a signed certificate, step by step')
    .option('--kubeconfig <file>', 'server to play against; default: one of its own')
    .action(async (flags: { readonly kubeconfig?: string }) => {
      const { demo } = await import('./demo.js');
      await demo(flags);
    });

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

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number from 0 to 65535.');
  return port;
}

function readText(text: string): string {
  if (text === '') throw new InvalidArgumentError('it must not be empty.');
  return text;
}

const readList = (text: string): 'all' | string[] =>
  text === 'all'
    ? 'all'
    : text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
