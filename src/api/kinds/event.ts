import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';
import type { ObjectReference } from './object-reference.js';

/** An event concerning an object (core/v1). Kept only for a while. */
export interface Event extends ApiObject {
  readonly involvedObject?: ObjectReference;
  readonly reason?: string;
  readonly message?: string;
  readonly source?: EventSource;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly count?: number;
  readonly type?: 'Normal' | 'Warning' | (string & {});
  /** The time in RFC 3339 with six fraction digits. */
  readonly eventTime?: string | null;
  readonly series?: EventSeries;
  readonly action?: string;
  readonly related?: ObjectReference;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

/** The reporting program, and the node on which it runs. */
export interface EventSource {
  readonly component?: string;
  readonly host?: string;
}

/** How often the same event occurred in a row. Times are RFC 3339 with six fraction digits. */
export interface EventSeries {
  readonly count?: number;
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

/** An event in the form of `events.k8s.io/v1`, which newer clients write and read. */
export interface EventsV1Event extends ApiObject {
  /** The time in RFC 3339 with six fraction digits. */
  readonly eventTime?: string | null;
  readonly series?: EventSeries;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly note?: string;
  readonly type?: Event['type'];
  readonly deprecatedSource?: EventSource;
  readonly deprecatedFirstTimestamp?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
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
