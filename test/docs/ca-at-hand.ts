import { caSigner, openCaFiles, type Signer } from 'kedge';

export async function webSigner(signal: AbortSignal): Promise<Signer> {
  const files = await openCaFiles({ certificateFile: 'ca.crt', keyFile: 'ca.key', signal });
  return caSigner({
    serves: 'example.com/web',
    authority: () => files.current(),
    maxSeconds: 30 * 86_400,
    validate: ({ dnsNames }) =>
      dnsNames.every((name) => name.endsWith('.example.com')) ? undefined : 'only names under example.com',
  });
}
