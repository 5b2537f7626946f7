import { type Secret, Secrets } from '../api/kinds/secret.js';
import { ownNames } from '../api/own-names.js';
import { humanDuration, timestamp } from '../api/time.js';
import { connect, type RemoteClient } from '../client/remote-client.js';
import { phaseOf, type RotationPhase } from '../pki/ca-rotation.js';
import { type CaState, certificateOf, readCaState } from '../pki/ca-state.js';
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

/** `kedge ca status`: every CA that is rotated, and what happens next. */
export const caStatus = (flags: Flags): Promise<void> =>
  withClient(flags, async (client) => {
    const { items } = await client.resource(Secrets).list({ labelSelector: `${ownNames.caLabel}=true` });
    process.stdout.write(items.length === 0 ? 'No CA is rotated.\n' : caTable(items, Date.now()));
  });

/** `kedge ca rotate`: asks for a rotation. Fails with one sentence if one is under way, or if there is no such CA. */
export const rotateCa = (key: { readonly namespace: string; readonly name: string }, flags: Flags): Promise<void> =>
  withClient(flags, async (client) => {
    const text = `${key.namespace}/${key.name}`;
    const secrets = client.resource(Secrets);
    const secret = await secrets.get(key);
    if (secret === undefined) throw new Error(`there is no Secret ${text}`);
    if (secret.metadata.labels?.[ownNames.caLabel] === undefined)
      throw new Error(`the Secret ${text} holds no CA that is rotated`);
    const problem = rotationProblem(readCaState(secret.data ?? {}));
    if (problem !== undefined) throw new Error(problem);
    const annotations = { ...secret.metadata.annotations, [ownNames.rotateAnnotation]: timestamp(Date.now()) };
    // With the version that was looked at, so that nobody begins twice.
    await secrets.update({ ...secret, metadata: { ...secret.metadata, annotations } });
    process.stdout.write(`A rotation of the CA in ${text} was asked for. See kedge ca status.\n`);
  });

/** Why no rotation can begin; undefined if one can. */
export const rotationProblem = (state: CaState): string | undefined =>
  state.next === undefined ? undefined : `a rotation is under way (${phaseOf(state)}); it goes on by itself`;

const next: Readonly<Record<RotationPhase, (state: CaState, now: number) => string>> = {
  steady: () => '',
  announced: () => 'waits until every bundle has the next anchor',
  spreading: ({ next: ca }, now) =>
    `every bundle has had the next anchor for ${humanDuration(now - (ca?.seenSince ?? now))}`,
  retiring: ({ retiring }, now) =>
    `the old anchor goes in ${humanDuration(Math.max(0, Math.min(...retiring.map(({ until }) => until)) - now))}`,
};

/** A line for each CA. */
export function caTable(secrets: readonly Secret[], now: number): string {
  return table([
    ['SECRET', 'SIGNERS', 'PHASE', 'CA', 'ENDS', 'ANCHORS', 'NEXT STEP'],
    ...secrets.map((secret) => [
      `${secret.metadata.namespace}/${secret.metadata.name}`,
      secret.metadata.annotations?.[ownNames.signersAnnotation] ?? '',
      ...stateCells(secret, now),
    ]),
  ]);
}

function stateCells({ data = {}, metadata }: Secret, now: number): readonly string[] {
  try {
    const state = readCaState(data);
    const { subject, notAfter } = certificateOf(state.signing);
    const phase = phaseOf(state);
    const asked = metadata.annotations?.[ownNames.rotateAnnotation] !== undefined;
    const anchors = [state.next?.pair.certificate ?? '', ...state.retiring.map(({ anchor }) => anchor)];
    return [
      phase,
      subject.commonName,
      shownEnd(timestamp(notAfter), now),
      String(1 + anchors.flatMap((pem) => readPemCertificates(pem)).length),
      asked ? 'a rotation was asked for' : next[phase](state, now),
    ];
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    return ['unusable', '', '', '', error.message];
  }
}
