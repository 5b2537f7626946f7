import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../runtime/clock.js';
import { AccessError, type ClientCredentials, type CredentialSource } from './cluster-access.js';

/** `users[].user.exec` of a kubeconfig: a program that prints credentials (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

export interface ExecOptions {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  /** Passed to plugins that set `provideClusterInfo`. */
  readonly cluster: object;
  /** The directory that a relative path of the command refers to. */
  readonly directory: string;
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const limits = { timeoutMs: 60_000, outputBytes: 1_048_576 };
/** Credentials are renewed a little before they expire. */
const earlyMs = 10_000;
const run = promisify(execFile);

/**
 * Returns credentials from an exec plugin. The plugin runs when they are first needed, have expired or were rejected;
 * one run at a time.
 */
export function execCredentials(plugin: ExecPlugin, options: ExecOptions): CredentialSource {
  if (typeof plugin.command !== 'string' || plugin.command === '')
    throw new AccessError('an exec plugin has no command');
  if (!versions.includes(plugin.apiVersion)) {
    throw new AccessError(
      `exec plugin ${plugin.command} speaks ${plugin.apiVersion}; known are ${versions.join(', ')}`,
    );
  }
  if (plugin.interactiveMode === 'Always') {
    throw new AccessError(`exec plugin ${plugin.command} requires an interactive terminal, which is not supported`);
  }
  let known: { readonly credentials: ClientCredentials; readonly until: number } | undefined;
  let asking: Promise<ClientCredentials> | undefined;

  const ask = async (): Promise<ClientCredentials> => {
    const answer = readAnswer(await output(plugin, options), plugin);
    known = { credentials: answer.credentials, until: answer.expires - earlyMs };
    return answer.credentials;
  };
  return {
    async current() {
      if (known !== undefined && options.clock.now() < known.until) return known.credentials;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    refused(presented) {
      // Many calls may be rejected at once; one run of the program is enough for all.
      const { authorization, certificate } = known?.credentials ?? {};
      const isKnown =
        (authorization === undefined || authorization === presented.authorization) &&
        (certificate === undefined || certificate === presented.certificate);
      if (isKnown) known = undefined;
      return true;
    },
  };
}

async function output(plugin: ExecPlugin, { env, cluster, directory }: ExecOptions): Promise<string> {
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(plugin.provideClusterInfo ? { cluster } : {}) },
  };
  const own = Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value]));
  const command = plugin.command.includes('/') ? resolve(directory, plugin.command) : plugin.command;
  try {
    const answer = run(command, [...(plugin.args ?? [])], {
      env: { ...env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      timeout: limits.timeoutMs,
      maxBuffer: limits.outputBytes,
      windowsHide: true,
    });
    // The plugin cannot prompt for input.
    answer.child.stdin?.end();
    return (await answer).stdout;
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const hint = plugin.installHint === undefined ? '' : `\n${plugin.installHint}`;
    throw new AccessError(
      missing ? `exec plugin ${plugin.command} is not installed${hint}` : `exec plugin ${plugin.command} failed`,
      { cause },
    );
  }
}

function readAnswer(
  stdout: string,
  { command, apiVersion }: ExecPlugin,
): { readonly credentials: ClientCredentials; readonly expires: number } {
  const answer = parse(stdout);
  if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== apiVersion || answer.status === undefined) {
    throw new AccessError(`exec plugin ${command} did not answer with an ExecCredential of ${apiVersion}`);
  }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = answer.status;
  if (!token && !(clientCertificateData && clientKeyData)) {
    throw new AccessError(`exec plugin ${command} answered neither a token nor a certificate with its key`);
  }
  const expires = Date.parse(expirationTimestamp ?? '');
  return {
    credentials: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(clientCertificateData ? { certificate: clientCertificateData, key: clientKeyData } : {}),
    },
    expires: Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires,
  };
}

interface ExecCredential {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

function parse(text: string): ExecCredential | undefined {
  try {
    return JSON.parse(text) as ExecCredential;
  } catch {
    return undefined;
  }
}
