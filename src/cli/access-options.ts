import type { TextSource } from '../runtime/text-source.js';
import type { ServerOptions } from '../server/options.js';
import type { Configuration } from './configuration-options.js';

/**
 * Returns the server options for authentication and authorization. The server reads the files and follows their
 * changes.
 */
export function accessOptions(configuration: Configuration): Partial<ServerOptions> {
  const { authorization, authorizationConfigFile, nodeRestriction, anonymous, clientCaFile, tokenFile } = configuration;
  const { authenticationConfigFile } = configuration;
  const { frontProxy, authenticationWebhook, authorizationWebhook, serviceAccounts } = configuration;
  const { issuers, apiAudiences, signingKeyFile, keySetUri, maxTokenSeconds, extendTokens } = serviceAccounts;
  const { caFile, ...proxy } = frontProxy;
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...inFile('authorizationConfiguration', 'authorizationConfigFile', authorizationConfigFile),
    ...(nodeRestriction === undefined ? {} : { nodeRestriction }),
    anonymous,
    ...inFile('clientCa', 'clientCaFile', clientCaFile),
    ...inFile('staticTokens', 'tokenFile', tokenFile),
    ...inFile('authenticationConfiguration', 'authenticationConfigFile', authenticationConfigFile),
    ...(caFile === undefined ? {} : { frontProxy: { ...proxy, ca: { file: caFile, option: 'frontProxy.caFile' } } }),
    ...withKubeconfig('authenticationWebhook', authenticationWebhook),
    ...withKubeconfig('authorizationWebhook', authorizationWebhook),
    serviceAccountIssuers: issuers,
    apiAudiences,
    ...inFile('serviceAccountSigningKey', 'serviceAccounts.signingKeyFile', signingKeyFile),
    serviceAccountVerificationKeys: serviceAccounts.verificationKeyFiles.map((file, at) => ({
      file,
      option: `serviceAccounts.verificationKeyFiles.${at}`,
    })),
    ...(keySetUri === undefined ? {} : { serviceAccountKeySetUri: keySetUri }),
    ...(maxTokenSeconds === 0 ? {} : { serviceAccountMaxTokenSeconds: maxTokenSeconds }),
    extendServiceAccountTokens: extendTokens,
  };
}

/** Returns an option whose value is the text of a file, if the configuration names one. */
export const inFile = <N extends string>(name: N, option: string, file: string | undefined) =>
  file === undefined ? {} : ({ [name]: { file, option } } as { readonly [K in N]: Exclude<TextSource, string> });

/** Returns an option that applies only if its kubeconfig is given. */
export const withKubeconfig = <N extends string, S extends { readonly kubeconfig?: string | undefined }>(
  name: N,
  settings: S,
) =>
  settings.kubeconfig === undefined
    ? {}
    : ({ [name]: settings } as { readonly [K in N]: S & { readonly kubeconfig: string } });
