import { type Domains, groupIn } from '../../api/domains.js';
import { type Event, Events, type EventsV1Event, EventsV1Events } from '../../api/kinds/event.js';
import { nameRules } from '../../api/names.js';
import { type ApiObject, asJson, groupVersion } from '../../api/object.js';
import type { Steps } from '../../api/steps.js';
import type { Violation } from '../../api/violations.js';
import { validateMetadata, validateMetadataChange } from '../../registry/metadata-rules.js';
import { type Column, defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { eventColumns } from './columns.js';
import { coreEvent, eventsV1Event } from './forms.js';
import { eventSchema, eventsV1Schema } from './schemas.js';
import { validateEvent, validateStrictly } from './validate.js';

/** Events in the core group and in `events.k8s.io`: the same objects, stored in the form of the core group. */

/** What the definitions of both groups share. */
const common = {
  origin: 'built-in',
  createOnUpdate: true,
  uncached: true,
  unconditionalUpdate: true,
  leadsWithName: false,
  garbageCollected: false,
} as const;

type Reader = (event: Event) => string;

/** Readers for field selectors on the involved object, by the last part of the selector's name. */
const ofInvolved: Readonly<Record<string, Reader>> = {
  kind: ({ involvedObject }) => involvedObject?.kind ?? '',
  namespace: ({ involvedObject }) => involvedObject?.namespace ?? '',
  name: ({ involvedObject }) => involvedObject?.name ?? '',
  uid: ({ involvedObject }) => involvedObject?.uid ?? '',
  apiVersion: ({ involvedObject }) => involvedObject?.apiVersion ?? '',
  resourceVersion: ({ involvedObject }) => involvedObject?.resourceVersion ?? '',
  fieldPath: ({ involvedObject }) => involvedObject?.fieldPath ?? '',
};
const involved = (member: string): Readonly<Record<string, Reader>> =>
  Object.fromEntries(Object.entries(ofInvolved).map(([name, read]) => [`${member}.${name}`, read]));
const reason: Reader = (event) => event.reason ?? '';
const reporter: Reader = ({ reportingComponent }) => reportingComponent ?? '';
const type: Reader = (event) => event.type ?? '';

const rules = { namespaced: true, nameRule: nameRules.dnsSubdomain, strictFinalizers: true };
const metadataViolations = (next: ApiObject, previous: ApiObject | undefined): Steps<readonly Violation[]> =>
  previous === undefined ? validateMetadata(next, rules) : validateMetadataChange(next, previous);

export const coreEvents = defineResource<Event>({
  ...Events,
  ...common,
  schema: eventSchema,
  updateRules: ['contents'],
  selectableFields: {
    ...involved('involvedObject'),
    reason,
    reportingComponent: reporter,
    source: (event) => event.source?.component || reporter(event),
    type,
  },
  columns: eventColumns,
  validate: (event) => validateEvent(event, { reporter: 'reportingComponent' }),
});

/** Returns the definition of events in `events.k8s.io`, whose group these domains name. */
export function eventsV1Definition(domains: Domains): ResourceDefinition<EventsV1Event> {
  const { group, version } = EventsV1Events;
  const apiVersion = groupVersion({ group: groupIn(domains, group), version });
  const onCore =
    <R>(read: (event: Event) => R) =>
    (event: EventsV1Event): R =>
      read(coreEvent(event));
  const column = (of: Column<Event>): Column<EventsV1Event> => ({
    ...of,
    cell: (event, now) => of.cell(coreEvent(event), now),
  });
  const selectable = { ...involved('regarding'), reason, reportingController: reporter, type };
  return defineResource<EventsV1Event>({
    ...EventsV1Events,
    ...common,
    schema: eventsV1Schema,
    storedAs: { group: Events.group, version: Events.version, schema: eventSchema },
    codec: {
      read: (stored) => eventsV1Event(stored as unknown as Event, apiVersion),
      readMetadata: (stored) => stored,
      store: (event) => asJson(coreEvent(event)),
    },
    // The validation of this group checks metadata itself, after the rules of the core group.
    updateRules: ['contents'],
    selectableFields: Object.fromEntries(Object.entries(selectable).map(([name, read]) => [name, onCore(read)])),
    columns: eventColumns.map(column),
    *validate(event, previous) {
      const [next, before] = [coreEvent(event), previous && coreEvent(previous)];
      return [
        ...validateEvent(next, { reporter: 'reportingController' }),
        ...(yield* metadataViolations(event, previous)),
        ...validateStrictly(next, before),
      ];
    },
  });
}
