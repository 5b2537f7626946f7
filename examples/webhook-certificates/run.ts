import { type Client, type Clock, createManager, type Logger, webhookServer } from 'kedge';
import { caInjector } from 'kedge/controllers';
import { teamWebhooks } from '../webhooks/team-webhooks.ts';
import { withServingCertificate } from './serving-certificate.ts';

const signerName = 'example.com/webhook-serving';
const oneDay = 86_400;

/** Serves the webhooks with a certificate signed by the server, and injects its CA into their configurations. */
export async function runTeamWebhooks(options: {
  readonly client: Client;
  /** The directory to which the certificate and its key are written. */
  readonly directory: string;
  readonly port?: number;
  readonly signal: AbortSignal;
  readonly log?: Logger;
  readonly clock?: Clock;
}): Promise<void> {
  const { client, directory, port = 9443, signal, log, clock } = options;
  const certificate = { signerName, dnsNames: ['webhooks.teams.svc'], expirationSeconds: oneDay, directory };
  await createManager({ client, log, clock })
    .add(
      withServingCertificate(certificate, (files) => webhookServer({ ...files, port, webhooks: teamWebhooks })),
      caInjector({ signerName, mutating: ['teams'], validating: ['teams'], definitions: ['teams.example.com'] }),
    )
    .run(signal);
}
