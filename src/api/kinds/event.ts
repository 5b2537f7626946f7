import { defaultDomains } from '../domains.js';
import { type ApiObject, resourceType } from '../object.js';
import type { ObjectReference } from './object-reference.js';

/** Something that happened to an object (core/v1). Kept only for a while. */
export interface Event extends ApiObject {
  readonly involvedObject?: ObjectReference;
  readonly reason?: string;
  readonly message?: string;
  readonly source?: EventSource;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly count?: number;
  readonly type?: 'Normal' | 'Warning' | (string & {});
  /** RFC 3339 with six fraction digits. */
  readonly eventTime?: string | null;
  readonly series?: EventSeries;
  readonly action?: string;
  readonly related?: ObjectReference;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

/** The program that reports, and the node that it runs on. */
export interface EventSource {
  readonly component?: string;
  readonly host?: string;
}

/** How often the same was seen in a row. Times are RFC 3339 with six fraction digits. */
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

/** The same as `events.k8s.io/v1` tells it: newer clients report and read events in this form. */
export interface EventsV1Event extends ApiObject {
  /** RFC 3339 with six fraction digits. */
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
