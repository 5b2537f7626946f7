import { type Event, Events } from '../../api/kinds/event.js';
import { dnsSubdomain, qualifiedName } from '../../api/names.js';
import { eachInvalid, invalid, required, type Violation } from '../../api/violations.js';
import { type Column, defineResource } from '../../registry/resource-definition.js';
import { field, integer32, microTime, optional, string, struct, time } from '../../schema/builder.js';
import { objectMeta, typeMeta } from '../../schema/meta.js';
import { column, since } from '../columns.js';
import { objectReference } from '../object-reference-schema.js';

const component = (name: string): { readonly component: string } => ({ component: `io.k8s.api.core.v1.${name}` });

export const eventSchema = struct(
  'v1.Event',
  {
    ...typeMeta,
    metadata: field(1, objectMeta, { description: 'Names, labels, versions and times.' }),
    involvedObject: field(2, objectReference, { description: 'What the event is about.' }),
    reason: field(3, string(), { description: 'One CamelCase word saying why.' }),
    message: field(4, string(), { description: 'Details for people.' }),
    source: field(
      5,
      struct(
        'v1.EventSource',
        {
          component: field(1, string(), { description: 'Program that reports the event.' }),
          host: field(2, string(), { description: 'Machine it runs on.' }),
        },
        { description: 'Who reports an event.', ...component('EventSource') },
      ),
      { description: 'Who reports the event.' },
    ),
    firstTimestamp: field(6, time(), { presence: 'always', description: 'When it first happened.' }),
    lastTimestamp: field(7, time(), { presence: 'always', description: 'When it last happened.' }),
    count: field(8, integer32(), { description: 'How often it happened.' }),
    type: field(9, string(), { description: 'Normal or Warning.' }),
    eventTime: field(10, microTime(), { presence: 'always', description: 'When it was first observed.' }),
    series: optional(
      11,
      struct(
        'v1.EventSeries',
        {
          count: field(1, integer32(), { description: 'How often it happened until lastObservedTime.' }),
          lastObservedTime: field(2, microTime(), { presence: 'always', description: 'When it last happened.' }),
        },
        { description: 'Repetitions of an event.', ...component('EventSeries') },
      ),
      { description: 'Repetitions of the event.' },
    ),
    action: field(12, string(), { description: 'What was done, or failed.' }),
    related: optional(13, objectReference, { description: 'Another object that has to do with it.' }),
    reportingComponent: field(14, string(), { presence: 'always', description: 'Controller that reports the event.' }),
    reportingInstance: field(15, string(), { presence: 'always', description: 'Instance of that controller.' }),
  },
  { required: ['metadata', 'involvedObject'], description: 'Something that happened.', ...component('Event') },
);

const mismatch = 'does not match event.namespace';
const maxNameLength = 128;
const maxMessageLength = 1_024;

/** Events with an eventTime are of the newer sort and must say who reports them and why. */
function validateEvent(event: Event): readonly Violation[] {
  const namespace = event.metadata.namespace ?? '';
  const involved = event.involvedObject?.namespace ?? '';
  const isNew = Boolean(event.eventTime);
  const anywhere = isNew ? ['default', 'kube-system'] : ['', 'default'];
  const agrees = involved === '' ? anywhere.includes(namespace) : isNew || involved === namespace;
  return [
    ...(agrees ? [] : [invalid('involvedObject.namespace', involved, mismatch)]),
    ...(isNew ? validateReport(event) : []),
    ...eachInvalid('namespace', namespace, dnsSubdomain(namespace)),
  ];
}

function validateReport(event: Event): readonly Violation[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event;
  const atMost = (path: string, text: string, most: number): readonly Violation[] =>
    Buffer.byteLength(text) > most ? [invalid(path, '', `can have at most ${most} characters`)] : [];
  const needed = (path: string, text: string): readonly Violation[] =>
    text === '' ? [required(path)] : atMost(path, text, maxNameLength);
  return [
    ...(reportingComponent === '' ? [required('reportingComponent')] : []),
    ...eachInvalid('reportingComponent', reportingComponent, qualifiedName(reportingComponent)),
    ...needed('reportingInstance', reportingInstance),
    ...needed('action', action),
    ...needed('reason', reason),
    ...atMost('message', message, maxMessageLength),
  ];
}

const firstSeen = ({ firstTimestamp, eventTime }: Event, now: number): string =>
  since(firstTimestamp || eventTime, now);

function lastSeen(event: Event, now: number): string {
  if (event.series) return since(event.series.lastObservedTime, now);
  return event.lastTimestamp ? since(event.lastTimestamp, now) : firstSeen(event, now);
}

const countOf = ({ series, count }: Event): number => (series ? (series.count ?? 0) : count || 1);

function objectText({ involvedObject: { kind = '', name = '' } = {} }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const [reporter, host] = [source?.component || reportingComponent || '', source?.host || reportingInstance || ''];
  return host === '' ? reporter : `${reporter}, ${host}`;
}

const wide = { priority: 1 };

/** Unlike those of other kinds, these are all the columns: Name is among them, at the end. */
const columns: readonly Column<Event>[] = [
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
    (message ?? '').trim(),
  ),
  column(
    'First Seen',
    'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
    firstSeen,
    wide,
  ),
  column('Count', 'The number of times this event has occurred.', countOf, wide),
  column(
    'Name',
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
    ({ metadata }) => metadata.name ?? '',
    { format: 'name', ...wide },
  ),
];

export const events = defineResource<Event>({
  ...Events,
  origin: 'built-in',
  schema: eventSchema,
  checksMetadata: 'never',
  createOnUpdate: true,
  uncached: true,
  unconditionalUpdate: true,
  selectableFields: {
    'involvedObject.kind': ({ involvedObject }) => involvedObject?.kind ?? '',
    'involvedObject.namespace': ({ involvedObject }) => involvedObject?.namespace ?? '',
    'involvedObject.name': ({ involvedObject }) => involvedObject?.name ?? '',
    'involvedObject.uid': ({ involvedObject }) => involvedObject?.uid ?? '',
    'involvedObject.apiVersion': ({ involvedObject }) => involvedObject?.apiVersion ?? '',
    'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject?.resourceVersion ?? '',
    'involvedObject.fieldPath': ({ involvedObject }) => involvedObject?.fieldPath ?? '',
    reason: ({ reason }) => reason ?? '',
    reportingComponent: ({ reportingComponent }) => reportingComponent ?? '',
    source: ({ source, reportingComponent }) => source?.component || reportingComponent || '',
    type: ({ type }) => type ?? '',
  },
  columns,
  leadsWithName: false,
  collected: false,
  validate: validateEvent,
});
