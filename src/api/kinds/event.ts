import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';
import type { ObjectReference } from './object-reference.js';

/** Report of something that happened to an object (core/v1). Events are deleted after a limited time. */
export interface Event extends ApiObject {
  /** Object that the event is about. */
  readonly involvedObject?: ObjectReference;
  /** Reason for the event, as one word in CamelCase. */
  readonly reason?: string;
  /** Human-readable details. */
  readonly message?: string;
  /** Component that reports the event. */
  readonly source?: EventSource;
  /** Time of the first occurrence, in RFC 3339 with whole seconds. */
  readonly firstTimestamp?: string | null;
  /** Time of the most recent occurrence, in RFC 3339 with whole seconds. */
  readonly lastTimestamp?: string | null;
  /** Number of occurrences. */
  readonly count?: number;
  /** Type of the event: `Normal` or `Warning`. */
  readonly type?: 'Normal' | 'Warning' | (string & {});
  /** Time at which the event was first observed, in RFC 3339 with six fraction digits. */
  readonly eventTime?: string | null;
  /** Series that the event represents; absent for a single event. */
  readonly series?: EventSeries;
  /** Action that was taken or failed. */
  readonly action?: string;
  /** Secondary object that the event involves. */
  readonly related?: ObjectReference;
  /** Name of the controller that reports the event. */
  readonly reportingComponent?: string;
  /** ID of the controller instance that reports the event. */
  readonly reportingInstance?: string;
}

/** Component that reports an event. */
export interface EventSource {
  /** Component that reports the event. */
  readonly component?: string;
  /** Node on which the event is generated. */
  readonly host?: string;
}

/** Series of repeated occurrences of an event. */
export interface EventSeries {
  /** Number of occurrences up to `lastObservedTime`. */
  readonly count?: number;
  /** Time of the most recent occurrence, in RFC 3339 with six fraction digits. */
  readonly lastObservedTime?: string | null;
}

/** The resource `events` of `v1`, namespaced. */
export const Events = resourceType<Event>({
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
});

/** Report of something that happened to an object, in the form of `events.k8s.io/v1`, which newer clients use. */
export interface EventsV1Event extends ApiObject {
  /** Time at which the event was first observed, in RFC 3339 with six fraction digits. */
  readonly eventTime?: string | null;
  /** Series that the event represents; absent for a single event. */
  readonly series?: EventSeries;
  /** Name of the controller that reports the event. */
  readonly reportingController?: string;
  /** ID of the controller instance that reports the event. */
  readonly reportingInstance?: string;
  /** Action that was taken or failed. */
  readonly action?: string;
  /** Reason for the action, as one word in CamelCase. */
  readonly reason?: string;
  /** Object that the event is about. */
  readonly regarding?: ObjectReference;
  /** Secondary object that the event involves. */
  readonly related?: ObjectReference;
  /** Human-readable details. */
  readonly note?: string;
  /** Type of the event: `Normal` or `Warning`. */
  readonly type?: Event['type'];
  /** Source of the event in the core/v1 API. */
  readonly deprecatedSource?: EventSource;
  /** First timestamp of the event in the core/v1 API. */
  readonly deprecatedFirstTimestamp?: string | null;
  /** Last timestamp of the event in the core/v1 API. */
  readonly deprecatedLastTimestamp?: string | null;
  /** Count of the event in the core/v1 API. */
  readonly deprecatedCount?: number;
}

/** The resource `events` of `events.k8s.io/v1`, namespaced; the objects are those of `v1` in another form. */
export const EventsV1Events = resourceType<EventsV1Event>({
  group: `events.${defaultDomains.api}`,
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
});
