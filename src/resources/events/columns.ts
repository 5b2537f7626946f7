import { goLowerCase, trimSpace } from '../../api/go-text.js';
import type { Event } from '../../api/kinds/event.js';
import type { Column } from '../../registry/resource-definition.js';
import { column, nameDescription, timestampAge } from '../columns.js';

const firstSeen = ({ firstTimestamp, eventTime }: Event, now: number): string =>
  timestampAge(firstTimestamp || eventTime, now);

function lastSeen(event: Event, now: number): string {
  if (event.series) return timestampAge(event.series.lastObservedTime, now);
  return event.lastTimestamp ? timestampAge(event.lastTimestamp, now) : firstSeen(event, now);
}

const countOf = ({ series, count }: Event): number => (series ? (series.count ?? 0) : count || 1);

function objectText({ involvedObject: { kind = '', name = '' } = {} }: Event): string {
  return name === '' ? goLowerCase(kind) : `${goLowerCase(kind)}/${name}`;
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const [reporter, host] = [source?.component || reportingComponent || '', source?.host || reportingInstance || ''];
  return host === '' ? reporter : `${reporter}, ${host}`;
}

const wide = { priority: 1 };

/** All columns of events. Unlike in other kinds, Name is among them, at the end. */
export const eventColumns: readonly Column<Event>[] = [
  column('Last Seen', 'The time at which the most recent occurrence of this event was recorded.', lastSeen),
  column(
    'Type',
    'Type of this event (Normal, Warning), new types could be added in the future',
    ({ type }) => type ?? '',
  ),
  column(
    'Reason',
    "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
    ({ reason }) => reason ?? '',
  ),
  column('Object', 'The object that this event is about.', objectText),
  column(
    'Subobject',
    'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
    ({ involvedObject }) => involvedObject?.fieldPath ?? '',
    wide,
  ),
  column(
    'Source',
    'The component reporting this event. Should be a short machine understandable string.',
    sourceText,
    wide,
  ),
  column('Message', 'A human-readable description of the status of this operation.', ({ message }) =>
    trimSpace(message ?? ''),
  ),
  column(
    'First Seen',
    'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
    firstSeen,
    wide,
  ),
  column('Count', 'The number of times this event has occurred.', countOf, wide),
  column('Name', nameDescription, ({ metadata }) => metadata.name ?? '', { format: 'name', ...wide }),
];
