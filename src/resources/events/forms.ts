import type { Event, EventsV1Event } from '../../api/kinds/event.js';
import type { JsonObject } from '../../api/object.js';
import { arrange } from '../../schema/encode.js';
import { eventsV1Schema } from './schemas.js';

/** One event in both groups: the same values under other names. */

/** Members of the core group, and what they are called in `events.k8s.io`; all others have one name. */
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

/** The event as the core group has it. */
export const coreEvent = (event: EventsV1Event): Event => renamed(event, toCore, coreVersion) as unknown as Event;

/** A stored event as `events.k8s.io` has it, under the name that this group has here; it leaves out what is empty. */
export const eventsV1Event = (event: Event, apiVersion: string): EventsV1Event =>
  arrange(eventsV1Schema, renamed(event, toEventsV1, apiVersion)) as unknown as EventsV1Event;
