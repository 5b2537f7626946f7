import type { Event, EventsV1Event } from '../../api/kinds/event.js';
import type { JsonObject } from '../../api/object.js';
import { arrange } from '../../schema/encode.js';
import { eventsV1Schema } from './schemas.js';

/** Conversion of events between the two groups: the same values under other names. */

/** Members of the core group with their names in `events.k8s.io`; all others have the same name in both. */
const names: readonly (readonly [keyof Event, keyof EventsV1Event])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const toCore = new Map<string, string>(names.map(([core, other]) => [other, core]));
const toEventsV1 = new Map<string, string>(names.map(([core, other]) => [core, other]));

function renamed(object: object, to: ReadonlyMap<string, string>, apiVersion: string): JsonObject {
  const members = Object.entries(object).map(([name, value]) => [to.get(name) ?? name, value] as const);
  return Object.fromEntries([...members, ['apiVersion', apiVersion]]) as JsonObject;
}

const coreVersion = 'v1';

/** Returns the event in the form of the core group. */
export const coreEvent = (event: EventsV1Event): Event => renamed(event, toCore, coreVersion) as unknown as Event;

/** Returns a stored event in the form of `events.k8s.io`, with the API version served here and without empty members. */
export const eventsV1Event = (event: Event, apiVersion: string): EventsV1Event =>
  arrange(eventsV1Schema, renamed(event, toEventsV1, apiVersion)) as unknown as EventsV1Event;
