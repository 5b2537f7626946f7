import { kedgeNames } from '../../src/api/kedge-names.js';
import { type Secret, Secrets, secretTypes } from '../../src/api/kinds/secret.js';
import { groupVersion, keyOf, type ObjectKey } from '../../src/api/object.js';
import type { ReconcileContext, ReconcileResult, Runnable } from '../../src/controller/controller.js';
import { type EventRecorder, eventRecorder } from '../../src/controller/events.js';
import { fieldManagers } from '../../src/controller/field-manager.js';
import { defineKeyedController } from '../../src/controller/keyed-controller.js';
import { sharedCache } from '../../src/controller/shared-cache.js';
import {
  announcedAt,
  announceNext,
  copiesHoldMs,
  dropRetired,
  markNextSeen,
  nextStep,
  phaseOf,
  phaseSince,
  type RotationPhase,
  type RotationPolicy,
  type RotationStep,
  rotationProblem,
  switchToNext,
  withLifetime,
  withoutFlawedNext,
} from '../../src/pki/ca-rotation.js';
import {
  anchorOf,
  type CaState,
  certificateOf,
  type NextCa,
  readCaState,
  writeCaState,
} from '../../src/pki/ca-state.js';
import { createAuthorityKeyPair, type KeyPair } from '../../src/pki/certificate-authority.js';
import type { KeyType } from '../../src/pki/key-pair.js';
import { PkiError } from '../../src/pki/pki-error.js';
import { bundlesLacking, formatSearchScope, type LackingBundle, type SearchScope } from './bundles.js';

/** A CA in a Secret that this controller creates and rotates. */
export interface RotatedCa {
  readonly secret: { readonly namespace: string; readonly name: string };
  /**
   * The names of the signers that use it; names with a `*` are not allowed, because their anchors are not published.
   */
  readonly signers: readonly string[];
  readonly policy: RotationPolicy;
  /** Names of the distributed bundles that contain its anchors; none by default. */
  readonly distributed?: readonly string[];
  /** Lifetime of its certificates in seconds; ten years by default. */
  readonly seconds?: number;
  /** Type of the key; P-256 by default. */
  readonly keyType?: KeyType;
}

/** The progress of a CA's rotation. Times are in milliseconds since the epoch. */
export interface RotationState {
  /** `unusable`: the Secret is not as the controller left it, and an administrator has to look. */
  readonly phase: RotationPhase | 'unusable';
  /** The time when the phase began; absent while steady, or if it was not recorded. */
  readonly since?: number | undefined;
  /** The first bundle that lacks the next anchor. */
  readonly lacking?:
    | { readonly text: string /** The time when the next CA was announced. */; readonly since: number }
    | undefined;
}

/** The CAs that are rotated, and how the controller observes that clients trust the next one. */
export interface CaRotationOptions {
  readonly cas: readonly RotatedCa[];
  /** Whether bundles are distributed as Secrets as well. */
  readonly inSecrets?: boolean;
  /** The `owner` of the distributor of the bundles. Default `kedge`. */
  readonly owner?: string;
  /** The interval of checks of the bundles. Default a minute. */
  readonly refreshMs?: number;
  /**
   * Called with each CA, by `namespace/name` of its Secret, whenever it was checked; undefined if it is no longer
   * checked here.
   */
  readonly onLooked?: (secret: string, state: RotationState | undefined) => void;
}

const name = 'ca-rotation';
const options = { fieldManager: fieldManagers.controllers };

/**
 * Creates missing CAs, and rotates those that expire soon or for which it is requested. Throws an Error for a CA that
 * cannot be rotated in time: it would be replaced all the time.
 */
export function caRotation({
  cas,
  inSecrets = false,
  owner = kedgeNames.trustOwner,
  refreshMs = 60_000,
  onLooked = () => {},
}: CaRotationOptions): Runnable {
  for (const { secret, policy, seconds } of cas) {
    const problem = rotationProblem(policy, seconds);
    if (problem !== undefined)
      throw new Error(`the CA in ${textOf(secret)} cannot be rotated with these settings: ${problem}`);
  }
  return defineKeyedController<RotatedCa>(name, (context) => {
    const recorder = eventRecorder(name, context);
    return {
      identity: ({ secret }) => textOf(secret),
      backoff: { baseMs: 200, capMs: refreshMs },
      start(wake) {
        for (const ca of cas) {
          const fieldSelector = `metadata.name=${ca.secret.name}`;
          const scope = { namespace: ca.secret.namespace, fieldSelector };
          sharedCache(context, Secrets, scope).changes.subscribe(({ type }) => wake(ca, type));
          wake(ca, 'start');
        }
      },
      reconcile: (ca) => rotate(ca, { ...context, recorder, inSecrets, owner, refreshMs, onLooked }),
      async stopped() {
        for (const { secret } of cas) onLooked(textOf(secret), undefined);
        await recorder.flush();
      },
    };
  });
}

interface RotationContext extends ReconcileContext {
  readonly recorder: EventRecorder;
  readonly inSecrets: boolean;
  readonly owner: string;
  readonly refreshMs: number;
  readonly onLooked: NonNullable<CaRotationOptions['onLooked']>;
}

/** Takes one step of the rotation. */
async function rotate(ca: RotatedCa, context: RotationContext): Promise<ReconcileResult> {
  const { client, clock, log, refreshMs } = context;
  const secret = await client.resource(Secrets).get(ca.secret);
  if (secret === undefined) {
    await create(ca, context);
    return { requeueAfterMs: 1 };
  }
  const state = read(secret, context);
  if (state === undefined) {
    context.onLooked(textOf(ca.secret), { phase: 'unusable' });
    return { requeueAfterMs: refreshMs };
  }
  const requested = secret.metadata.annotations?.[kedgeNames.rotateAnnotation] !== undefined;
  const { policy } = ca;
  const [lacking] = state.next ? await bundlesLacking(client, placesOf(ca, context), anchorOf(state.next.pair)) : [];
  const now = clock.now();
  const hold = lacking && state.next && rotationHold(state.next, lacking, { now, policy });
  const seen = state.next !== undefined && hold?.isOver !== false;
  const step = nextStep(state, { now, seen, requested }, policy);
  const next = withLifetime(await applyStep(state, step, { ca, context, now }), policy.maxSeconds);
  const refused = requested && state.next !== undefined;
  if (next !== state || refused) {
    const answered = refused || (requested && step.action === 'announce');
    await updateSecret(ca, { secret, next, answered }, context);
  }
  context.onLooked(textOf(ca.secret), {
    phase: phaseOf(next),
    since: phaseSince(next),
    lacking: lacking && next.next && { text: lacking.text, since: announcedAt(next.next) },
  });
  logStep(secret, { step, next, refused, hold }, context);
  if (step.action !== 'wait') return { requeueAfterMs: 1 };
  log[lacking === undefined ? 'debug' : 'info'](
    { object: textOf(ca.secret), why: step.why, lacking: lacking?.text },
    'CA rotation waits',
  );
  return { requeueAfterMs: Math.max(1, Math.min(refreshMs, (step.until ?? Number.POSITIVE_INFINITY) - now)) };
}

/** The reason for which a rotation waits: a bundle lacks the next anchor. */
interface RotationHold {
  /** Whether the rotation no longer waits for it. */
  readonly isOver: boolean;
  /** The warning to log; absent while the anchor may still be spreading. */
  readonly warning?: string;
}

function rotationHold(
  next: NextCa,
  { text, isCopy }: LackingBundle,
  { now, policy }: { readonly now: number; readonly policy: RotationPolicy },
): RotationHold {
  const waitedMs = now - announcedAt(next);
  const isOver = isCopy && waitedMs >= copiesHoldMs(policy);
  if (isOver) return { isOver, warning: `${text} still lacks the next anchor; the rotation no longer waits for it` };
  if (waitedMs < policy.propagationMs) return { isOver };
  return { isOver, warning: `${text} lacks the next anchor; the rotation waits for it` };
}

const textOf = ({ namespace, name: secret }: ObjectKey): string => `${namespace}/${secret}`;

/** Reads the state in the Secret; undefined if there is none, and an administrator has to look. */
function read(secret: Secret, { log, recorder }: RotationContext): CaState | undefined {
  try {
    return readCaState(secret.data ?? {});
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    log.error(
      { object: textOf(keyOf(secret)), err: error },
      'CA is not rotated: its Secret does not contain a valid state',
    );
    recorder.record(secret, { type: 'Warning', reason: 'CaUnusable', message: error.message });
    return undefined;
  }
}

async function applyStep(
  state: CaState,
  step: RotationStep,
  input: { readonly ca: RotatedCa; readonly context: ReconcileContext; readonly now: number },
): Promise<CaState> {
  const { ca, context, now } = input;
  switch (step.action) {
    case 'announce':
      return announceNext(withoutFlawedNext(state, now, ca.policy), await newPair(ca, state.generation + 1, context));
    case 'note-seen':
      return markNextSeen(state, now);
    case 'forget-seen':
      return markNextSeen(state, undefined);
    case 'switch':
      return switchToNext(state, now, ca.policy);
    case 'retire':
      return dropRetired(state, now);
    case 'wait':
      return state;
  }
}

/** Creates a CA. Names of CAs are short, and every generation has a different one. */
const newPair = (
  { secret, seconds, keyType }: RotatedCa,
  generation: number,
  { clock }: ReconcileContext,
): Promise<KeyPair> =>
  createAuthorityKeyPair(
    {
      commonName: `${secret.name.slice(0, 48)} ${generation}`,
      ...(seconds === undefined ? {} : { seconds }),
      ...(keyType === undefined ? {} : { keyType }),
    },
    clock,
  );

const placesOf = (
  { signers, distributed = [] }: RotatedCa,
  { owner, inSecrets }: Pick<RotationContext, 'owner' | 'inSecrets'>,
): SearchScope => ({ signers, distributed, owner, inSecrets });

const rotationMetadata = (
  ca: RotatedCa,
  metadata: Secret['metadata'],
  context: RotationContext,
): Secret['metadata'] => ({
  ...metadata,
  labels: { ...metadata.labels, [kedgeNames.caLabel]: 'true' },
  annotations: {
    ...metadata.annotations,
    [kedgeNames.signersAnnotation]: ca.signers.join(','),
    [kedgeNames.bundlesAnnotation]: formatSearchScope(placesOf(ca, context)),
  },
});

async function create(ca: RotatedCa, context: RotationContext): Promise<void> {
  const { client, log } = context;
  const signing = await newPair(ca, 1, context);
  const state: CaState = { generation: 1, signing, retiring: [], longestSeconds: ca.policy.maxSeconds };
  await client.resource(Secrets).create(
    {
      apiVersion: groupVersion(Secrets),
      kind: Secrets.kind,
      metadata: rotationMetadata(ca, ca.secret, context),
      type: secretTypes.opaque,
      data: writeCaState(state),
    },
    options,
  );
  log.info({ object: textOf(ca.secret), notAfter: endOf(state) }, 'created a CA');
}

/** Writes the Secret. Fails with Conflict if it was written since it was read. */
async function updateSecret(
  ca: RotatedCa,
  update: { readonly secret: Secret; readonly next: CaState; readonly answered: boolean },
  context: RotationContext,
): Promise<void> {
  const { secret, next, answered } = update;
  const metadata = rotationMetadata(ca, secret.metadata, context);
  const { [kedgeNames.rotateAnnotation]: _rotate, ...others } = metadata.annotations ?? {};
  await context.client.resource(Secrets).update(
    {
      ...secret,
      metadata: answered ? { ...metadata, annotations: others } : metadata,
      data: writeCaState(next, secret.data ?? {}),
    },
    options,
  );
}

const reasons = {
  announce: 'CaAnnounced',
  'note-seen': 'CaSeenEverywhere',
  'forget-seen': 'CaNotSeenEverywhere',
  switch: 'CaSwitched',
  retire: 'CaRetired',
} as const;

function logStep(
  secret: Secret,
  outcome: {
    readonly step: RotationStep;
    readonly next: CaState;
    readonly refused: boolean;
    readonly hold: RotationHold | undefined;
  },
  { log, recorder }: RotationContext,
): void {
  const { step, next, refused, hold } = outcome;
  const object = textOf(keyOf(secret));
  if (hold?.warning !== undefined) {
    log.warn({ object }, hold.warning);
    recorder.record(secret, { type: 'Warning', reason: 'CaRotationHeldUp', message: hold.warning });
  }
  if (refused) {
    const message = 'a rotation is in progress; the request for another one was refused';
    log.warn({ object }, message);
    recorder.record(secret, { type: 'Warning', reason: 'CaRotationRefused', message });
  }
  if (step.action === 'wait') return;
  const { action, why } = step;
  log.info({ object, action, why, generation: next.generation, notAfter: endOf(next) }, 'CA rotation');
  recorder.record(secret, { type: 'Normal', reason: reasons[action], message: `${action}: ${why}` });
}

const endOf = ({ signing }: CaState): string => new Date(certificateOf(signing).notAfter).toISOString();
