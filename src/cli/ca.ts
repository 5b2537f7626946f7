import { bundlesLacking, parseSearchScope } from '../../controllers/ca-rotation/bundles.js';
import { isReason } from '../api/errors.js';
import { kedgeNames } from '../api/kedge-names.js';
import { type Secret, Secrets } from '../api/kinds/secret.js';
import { humanDuration, timestamp } from '../api/time.js';
import type { Client } from '../client/client.js';
import { connect, type RemoteClient } from '../client/remote-client.js';
import { phaseOf, type RotationPhase } from '../pki/ca-rotation.js';
import { anchorOf, type CaState, certificateOf, readCaState } from '../pki/ca-state.js';
import { readPemCertificates } from '../pki/certificate.js';
import { PkiError } from '../pki/pki-error.js';
import { shownEnd, table } from './issued-certificates.js';

interface Flags {
  readonly kubeconfig?: string;
}

const withClient = async (flags: Flags, use: (client: RemoteClient) => Promise<void>): Promise<void> => {
  const client = await connect({ kubeconfig: flags.kubeconfig });
  try {
    await use(client);
  } finally {
    client.close();
  }
};

/** Implements `kedge ca status`: lists every CA that is rotated, with its next step. */
export const caStatus = (flags: Flags): Promise<void> =>
  withClient(flags, async (client) => {
    const { items } = await client.resource(Secrets).list({ labelSelector: `${kedgeNames.caLabel}=true` });
    const shown = await Promise.all(
      items.map(async (secret) => ({ secret, waitsFor: await pendingTargets(client, secret) })),
    );
    process.stdout.write(items.length === 0 ? 'No CA is managed by rotation.\n' : caTable(shown, Date.now()));
  });

/**
 * Implements `kedge ca rotate`: requests a rotation. Fails with an error of one sentence if one is in progress, or if
 * there is no such CA.
 */
export const rotateCa = (key: { readonly namespace: string; readonly name: string }, flags: Flags): Promise<void> =>
  withClient(flags, async (client) => {
    const text = `${key.namespace}/${key.name}`;
    const secrets = client.resource(Secrets);
    const secret = await secrets.get(key);
    if (secret === undefined) throw new Error(`no Secret ${text}`);
    if (secret.metadata.labels?.[kedgeNames.caLabel] === undefined)
      throw new Error(`the Secret ${text} contains no CA that is managed by rotation`);
    const problem = rotationProblem(readCaState(secret.data ?? {}));
    if (problem !== undefined) throw new Error(problem);
    const annotations = { ...secret.metadata.annotations, [kedgeNames.rotateAnnotation]: timestamp(Date.now()) };
    // The update includes the resourceVersion that was read, so that only one rotation begins.
    await secrets.update({ ...secret, metadata: { ...secret.metadata, annotations } });
    process.stdout.write(`A rotation of the CA in ${text} was requested. See kedge ca status.\n`);
  });

/** Returns why no rotation can begin; undefined if one can. */
export const rotationProblem = (state: CaState): string | undefined =>
  state.next === undefined ? undefined : `a rotation is in progress (${phaseOf(state)}); it continues by itself`;

/**
 * A Secret with a CA, and the bundles that lack its next anchor; empty if none do, or if the caller may not read them.
 */
interface ShownCa {
  readonly secret: Secret;
  readonly waitsFor: readonly string[];
}

async function pendingTargets(client: Client, secret: Secret): Promise<readonly string[]> {
  try {
    const { next: ca } = readCaState(secret.data ?? {});
    if (ca === undefined) return [];
    return (await bundlesLacking(client, parseSearchScope(secret), anchorOf(ca.pair))).map(({ text }) => text);
  } catch (error) {
    // The table shows the problem of the state.
    if (error instanceof PkiError || isReason(error, 'Forbidden') || isReason(error, 'NotFound')) return [];
    throw error;
  }
}

const firstAndCount = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`;

const next: Readonly<Record<RotationPhase, (state: CaState, waitsFor: readonly string[], now: number) => string>> = {
  steady: () => '',
  announced: (_, waitsFor) =>
    waitsFor.length === 0
      ? 'waiting until every bundle has the next anchor'
      : `waiting for the next anchor in ${firstAndCount(waitsFor)}`,
  spreading: ({ next: ca }, waitsFor, now) =>
    waitsFor.length === 0
      ? `every bundle has had the next anchor for ${humanDuration(now - (ca?.seenSince ?? now))}`
      : `without the next anchor: ${firstAndCount(waitsFor)}`,
  retiring: ({ retiring }, _, now) =>
    `the old anchor goes in ${humanDuration(Math.max(0, Math.min(...retiring.map(({ until }) => until)) - now))}`,
};

/** Returns a table with a line for each CA. */
export function caTable(cas: readonly ShownCa[], now: number): string {
  return table([
    ['SECRET', 'SIGNERS', 'PHASE', 'CA', 'ENDS', 'ANCHORS', 'NEXT STEP'],
    ...cas.map((shown) => [
      `${shown.secret.metadata.namespace}/${shown.secret.metadata.name}`,
      shown.secret.metadata.annotations?.[kedgeNames.signersAnnotation] ?? '',
      ...stateCells(shown, now),
    ]),
  ]);
}

function stateCells({ secret: { data = {}, metadata }, waitsFor }: ShownCa, now: number): readonly string[] {
  try {
    const state = readCaState(data);
    const { subject, notAfter } = certificateOf(state.signing);
    const phase = phaseOf(state);
    const isRequested = metadata.annotations?.[kedgeNames.rotateAnnotation] !== undefined;
    const anchors = [state.next?.pair.certificate ?? '', ...state.retiring.map(({ anchor }) => anchor)];
    return [
      phase,
      subject.commonName,
      shownEnd(timestamp(notAfter), now),
      String(1 + anchors.flatMap((pem) => readPemCertificates(pem)).length),
      isRequested ? 'a rotation was requested' : next[phase](state, waitsFor, now),
    ];
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return ['unusable', '', '', '', error.message];
  }
}
