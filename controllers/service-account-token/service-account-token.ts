import { type Domains, defaultDomains } from '../../src/api/domains.js';
import { isReason } from '../../src/api/errors.js';
import { type Secret, Secrets } from '../../src/api/kinds/secret.js';
import { type ServiceAccount, ServiceAccounts } from '../../src/api/kinds/service-account.js';
import { keyOf } from '../../src/api/object.js';
import type { ReconcileContext, Runnable } from '../../src/controller/controller.js';
import { defineController } from '../../src/controller/define-controller.js';
import { deleteIfPresent } from '../../src/controller/delete-if-present.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { accountOf, belongsTo, fillTokenSecret, type TokenMarks, tokenMarks } from './token-secret.js';

/** Creates tokens, and provides the CA that verifies the API server. */
export interface ServiceAccountTokenOptions {
  /** Creates a token of an account for a Secret; it does not expire. */
  mint(account: ServiceAccount, secret: Secret): Promise<string>;
  readonly rootCa: () => string | Promise<string>;
  readonly domains?: Domains;
}

/** Fills Secrets that request a token of a service account, and deletes those whose account is gone. */
export function serviceAccountTokenController({
  mint,
  rootCa,
  domains = defaultDomains,
}: ServiceAccountTokenOptions): Runnable {
  const marks = tokenMarks(domains);
  const tokensOnly = `type=${marks.type}`;
  return defineController<Secret>({
    name: 'service-account-token',
    for: Secrets,
    fieldSelector: tokensOnly,
    when: (secret) => secret.type === marks.type && secret.metadata.deletionTimestamp === undefined,
    alsoOn: [
      {
        on: ServiceAccounts,
        async keys({ metadata }, client) {
          const secrets = client.resource(Secrets);
          const { items } = await secrets.list({ namespace: metadata.namespace, fieldSelector: tokensOnly });
          return items.filter((secret) => accountOf(secret, marks) === metadata.name).map(keyOf);
        },
      },
    ],

    async reconcile(secret, { client }) {
      const name = accountOf(secret, marks);
      if (name === '') return;
      const account = await client.resource(ServiceAccounts).get({ namespace: secret.metadata.namespace, name });
      if (account === undefined || !belongsTo(secret, account, marks)) {
        await deleteIfPresent(client, Secrets, secret);
        return;
      }
      const filling = { marks, rootCa: await rootCa(), mint: () => mint(account, secret) };
      const next = await fillTokenSecret(secret, account, filling);
      if (next === undefined) return;
      try {
        await client.resource(Secrets).update(next, { fieldManager: fieldManagers.controllers });
      } catch (error) {
        if (!isReason(error, 'NotFound')) throw error;
      }
    },

    deleted: (last, context) => dropReference(last, marks, context),
  });
}

/** Older accounts list their token Secrets; a deleted Secret is removed from the list. */
async function dropReference(secret: Secret, marks: TokenMarks, { client }: ReconcileContext): Promise<void> {
  const accounts = client.resource(ServiceAccounts);
  const name = accountOf(secret, marks);
  const account = name === '' ? undefined : await accounts.get({ namespace: secret.metadata.namespace, name });
  if (account === undefined || !belongsTo(secret, account, marks)) return;
  const listed = account.secrets ?? [];
  const secrets = listed.filter((reference) => reference.name !== secret.metadata.name);
  if (secrets.length === listed.length) return;
  await accounts.update({ ...account, secrets }, { fieldManager: fieldManagers.controllers });
}
