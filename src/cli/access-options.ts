import type { ServerOptions } from '../server/options.js';
import type { Configuration } from './configuration-options.js';

/** What the configuration says of who is calling and what they may do. Files are read, and followed, by the server. */
export function accessOptions(configuration: Configuration): Partial<ServerOptions> {
  const { authorization, nodeRestriction, anonymous, clientCaFile, tokenFile, authenticationConfigFile } =
    configuration;
  const { frontProxy, authenticationWebhook, authorizationWebhook, serviceAccounts } = configuration;
  const { issuers, apiAudiences, signingKeyFile, keySetUri, maxTokenSeconds, extendTokens } = serviceAccounts;
  const { caFile, ...proxy } = frontProxy;
  return {
    authorization,
    ...(nodeRestriction === undefined ? {} : { nodeRestriction }),
    anonymous,
    ...inFile('clientCa', clientCaFile),
    ...inFile('staticTokens', tokenFile),
    ...inFile('authenticationConfiguration', authenticationConfigFile),
    ...(caFile === undefined ? {} : { frontProxy: { ...proxy, ca: { file: caFile } } }),
    ...withKubeconfig('authenticationWebhook', authenticationWebhook),
    ...withKubeconfig('authorizationWebhook', authorizationWebhook),
    serviceAccountIssuers: issuers,
    apiAudiences,
    ...inFile('serviceAccountSigningKey', signingKeyFile),
    serviceAccountVerificationKeys: serviceAccounts.verificationKeyFiles.map((file) => ({ file })),
    ...(keySetUri === undefined ? {} : { serviceAccountKeySetUri: keySetUri }),
    ...(maxTokenSeconds === 0 ? {} : { serviceAccountMaxTokenSeconds: maxTokenSeconds }),
    extendServiceAccountTokens: extendTokens,
  };
}

const inFile = <N extends string>(name: N, file: string | undefined) =>
  file === undefined ? {} : ({ [name]: { file } } as { readonly [K in N]: { readonly file: string } });

const withKubeconfig = <N extends string, S extends { readonly kubeconfig?: string | undefined }>(
  name: N,
  settings: S,
) =>
  settings.kubeconfig === undefined
    ? {}
    : ({ [name]: settings } as { readonly [K in N]: S & { readonly kubeconfig: string } });
