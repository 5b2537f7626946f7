import { randomBytes } from 'node:crypto';
import { ApiError, isReason } from '../api/errors.js';
import { type Event, Events } from '../api/kinds/event.js';
import { dnsSubdomain } from '../api/names.js';
import { type ApiObject, groupVersion } from '../api/object.js';
import { timestamp } from '../api/time.js';
import type { Client, WriteOptions } from '../client/client.js';
import { BoundedMap } from '../runtime/bounded-map.js';
import type { Clock } from '../runtime/clock.js';
import { type TokenBucket, tokenBucket } from './backoff.js';
import type { ReconcileContext } from './controller.js';
import { controllerContext } from './controller-context.js';
import { isNamespaceTerminating } from './namespace-terminating.js';

/**
 * Records what a controller does to objects as Events. Never fails and never waits. Once the signal aborts, events that
 * wait to be written are dropped.
 */
export interface EventRecorder {
  record(
    object: ApiObject,
    event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
  ): void;
  /** Resolves when everything recorded so far was written or dropped. */
  flush(): Promise<void>;
}

type EventDetails = Parameters<EventRecorder['record']>[1];

const limits = { remembered: 4_096, waiting: 1_000, burst: 25, perSecond: 1 / 300, similar: 10, similarForMs: 600_000 };

/** The messages of one object, type and reason. */
interface EventGroup {
  readonly messages: Set<string>;
  /** The time of the last message (of the `monotonic` clock). */
  readonly at: number;
}

interface RecordedEvent {
  readonly name: string;
  readonly namespace: string;
  readonly count: number;
}

interface RecorderContext extends Pick<ReconcileContext, 'client' | 'clock' | 'log'> {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the recorder of a component. A repeated event increments the count of the existing one. So do events that
 * differ only in their message, after ten messages within ten minutes of each other. An object has at most 25 events at
 * once and then one in five minutes. If the server cannot keep up, events are dropped. An event that cannot be written
 * is lost, with a warning in the log once for each event reason and kind of failure. The same client gets the same
 * recorder, so `reconcile` may call this every time; the recorder outlasts a call with a time limit.
 */
export function eventRecorder(
  component: string,
  reconcileContext: Pick<ReconcileContext, 'client' | 'clock' | 'log'> & { readonly signal?: AbortSignal | undefined },
  options: Pick<WriteOptions, 'fieldManager'> = {},
): EventRecorder {
  const context: RecorderContext = controllerContext(reconcileContext);
  const { client, clock, signal } = context;
  const own = recorders.get(client) ?? new Map<string, Made>();
  recorders.set(client, own);
  const id = JSON.stringify([component, options.fieldManager]);
  const before = own.get(id);
  if (before !== undefined && before.clock === clock && before.signal === signal) return before.recorder;
  const recorder = newRecorder(component, context, options);
  own.set(id, { recorder, clock, signal });
  return recorder;
}

interface Made extends Pick<RecorderContext, 'clock' | 'signal'> {
  readonly recorder: EventRecorder;
}

/** The recorders of each client, by component and field manager. */
const recorders = new WeakMap<Client, Map<string, Made>>();

function newRecorder(
  component: string,
  { client, clock, log, signal }: RecorderContext,
  options: Pick<WriteOptions, 'fieldManager'>,
): EventRecorder {
  const resource = client.resource(Events);
  const known = new BoundedMap<string, RecordedEvent>(limits.remembered);
  const similar = new SimilarEvents(clock);
  const buckets = new BoundedMap<string, TokenBucket>(limits.remembered);
  const warned = new BoundedMap<string, true>(limits.remembered);
  /** Distinguishes this recorder's events from those of others for the same object at the same time. */
  const own = randomBytes(4).toString('hex');
  let waiting = 0;
  let serial = 0;
  let last: Promise<void> = Promise.resolve();

  const write = async (object: ApiObject, event: EventDetails) => {
    const { type, reason } = event;
    const { id, message } = similar.counted(object, event);
    const now = timestamp(clock.now());
    const before = known.get(id);
    if (before !== undefined) {
      const again = { ...before, count: before.count + 1 };
      const body = { count: again.count, lastTimestamp: now, message };
      try {
        await resource.patch({ namespace: before.namespace, name: before.name }, { type: 'merge', body }, options);
        known.set(id, again);
        return;
      } catch (error) {
        // The event was deleted meanwhile: it is created again.
        if (!isReason(error, 'NotFound')) throw error;
        signal?.throwIfAborted();
      }
    }
    const namespace = object.metadata.namespace ?? 'default';
    const suffix = `${Math.trunc(clock.now()).toString(16)}${own}${(serial++).toString(16)}`;
    const name = eventName(object, suffix);
    await resource.create(newEvent({ object, component, namespace, name, type, reason, message, now }), options);
    known.set(id, { name, namespace, count: 1 });
  };

  const tell = (error: unknown, reason: string): void => {
    const id = JSON.stringify([reason, error instanceof ApiError ? error.reason : undefined]);
    const isNews = !signal?.aborted && !isNamespaceTerminating(error) && warned.get(id) === undefined;
    if (isNews) warned.set(id, true);
    log[isNews ? 'warn' : 'debug']({ err: error, reason }, 'event not written');
  };

  return {
    record(object, event) {
      const id = JSON.stringify([subjectOf(object), event.type]);
      const bucket = buckets.get(id) ?? tokenBucket({ clock, perSecond: limits.perSecond, burst: limits.burst });
      buckets.set(id, bucket);
      if (waiting >= limits.waiting || !bucket.tryTake()) return;
      waiting++;
      last = last
        .then(() => (signal?.aborted ? undefined : write(object, event)))
        .catch((error: unknown) => tell(error, event.reason))
        .finally(() => {
          waiting--;
        });
    },
    flush: () => last,
  };
}

/** Aggregates events of one object, type and reason that differ in their message. */
class SimilarEvents {
  readonly #clock: Clock;
  readonly #known = new BoundedMap<string, EventGroup>(limits.remembered);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the message to write, and an id that is the same for events that are counted as one. */
  counted(
    object: ApiObject,
    { type, reason, ...event }: EventDetails,
  ): { readonly id: string; readonly message: string } {
    const message = firstCharacters(event.message);
    const kind = JSON.stringify([subjectOf(object), type, reason]);
    const at = this.#clock.monotonic();
    const before = this.#known.get(kind);
    const isLately = before !== undefined && at - before.at <= limits.similarForMs;
    const messages = isLately ? before.messages : new Set<string>();
    this.#known.set(kind, { messages: messages.add(message), at });
    if (messages.size < limits.similar) return { id: JSON.stringify([kind, message]), message };
    const [oldest = message] = messages;
    messages.delete(oldest);
    return { id: kind, message: firstCharacters(`(combined from similar events): ${message}`) };
  }
}

/** Identifies an object; one that could not be created has no uid. */
const subjectOf = ({ apiVersion, kind, metadata: { namespace, name, uid } }: ApiObject) =>
  [apiVersion, kind, namespace, name, uid] as const;

/**
 * Returns `<object>.<suffix>`, without the object's name if it is not valid in the name of an Event; that of a
 * CertificateSigningRequest may not be.
 */
function eventName({ metadata, kind }: ApiObject, suffix: string): string {
  const name = `${metadata.name ?? ''}.${suffix}`;
  return dnsSubdomain(name).length === 0 ? name : `${kind.toLowerCase()}.${suffix}`;
}

/** Returns the beginning of a message, up to its maximum length, without splitting a character. */
const firstCharacters = (message: string): string => message.slice(0, 1_024).replace(/[\ud800-\udbff]$/, '');

const newEvent = (input: {
  readonly object: ApiObject;
  readonly component: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly now: string;
}): Event => {
  const { object, component, namespace, name, type, reason, message, now } = input;
  const { apiVersion, kind, metadata } = object;
  return {
    apiVersion: groupVersion(Events),
    kind: Events.kind,
    metadata: { name, namespace },
    involvedObject: {
      apiVersion,
      kind,
      name: metadata.name ?? '',
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      ...(metadata.uid === undefined ? {} : { uid: metadata.uid }),
      ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
    },
    type,
    reason,
    message,
    count: 1,
    firstTimestamp: now,
    lastTimestamp: now,
    source: { component },
    reportingComponent: component,
  };
};
