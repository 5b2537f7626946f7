import { field, integer32, microTime, optional, string, structsOf, time } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { coreStruct } from '../core-struct.js';
import { objectReference } from '../object-reference-schema.js';

const struct = structsOf('io.k8s.api.events.v1');

/** Schemas of events in the core group and in `events.k8s.io`. */

const eventSource = coreStruct(
  'EventSource',
  {
    component: field(1, string(), { description: 'Program that reports the event.' }),
    host: field(2, string(), { description: 'Machine it runs on.' }),
  },
  { description: 'Who reports an event.' },
);

/** core/v1 Event. */
export const eventSchema = coreStruct(
  'Event',
  {
    ...objectMembers,
    involvedObject: field(2, objectReference, { description: 'What the event is about.' }),
    reason: field(3, string(), { description: 'One CamelCase word saying why.' }),
    message: field(4, string(), { description: 'Details for people.' }),
    source: field(5, eventSource, { description: 'Who reports the event.' }),
    firstTimestamp: field(6, time(), { presence: 'always', description: 'When it first happened.' }),
    lastTimestamp: field(7, time(), { presence: 'always', description: 'When it last happened.' }),
    count: field(8, integer32(), { description: 'How often it happened.' }),
    type: field(9, string(), { description: 'Normal or Warning.' }),
    eventTime: field(10, microTime(), { presence: 'always', description: 'When it was first observed.' }),
    series: optional(
      11,
      coreStruct(
        'EventSeries',
        {
          count: field(1, integer32(), { description: 'How often it happened until lastObservedTime.' }),
          lastObservedTime: field(2, microTime(), { presence: 'always', description: 'When it last happened.' }),
        },
        { description: 'Repetitions of an event.' },
      ),
      { description: 'Repetitions of the event.' },
    ),
    action: field(12, string(), { description: 'What was done, or failed.' }),
    related: optional(13, objectReference, { description: 'Another object that has to do with it.' }),
    reportingComponent: field(14, string(), { presence: 'always', description: 'Controller that reports the event.' }),
    reportingInstance: field(15, string(), { presence: 'always', description: 'Instance of that controller.' }),
  },
  { required: ['metadata', 'involvedObject'], description: 'Something that happened.' },
);

/** events.k8s.io/v1 Event. */
export const eventsV1Schema = struct(
  'Event',
  {
    ...objectMembers,
    eventTime: field(2, microTime(), { presence: 'always', description: 'When it was first observed.' }),
    series: optional(
      3,
      struct(
        'EventSeries',
        {
          count: field(1, integer32(), {
            presence: 'always',
            description: 'How often it happened until lastObservedTime.',
          }),
          lastObservedTime: field(2, microTime(), { presence: 'always', description: 'When it last happened.' }),
        },
        {
          required: ['count', 'lastObservedTime'],
          description: 'Repetitions of an event.',
        },
      ),
      { description: 'Repetitions of the event.' },
    ),
    reportingController: field(4, string(), { description: 'Controller that reports the event.' }),
    reportingInstance: field(5, string(), { description: 'Instance of that controller.' }),
    action: field(6, string(), { description: 'What was done, or failed.' }),
    reason: field(7, string(), { description: 'One CamelCase word saying why.' }),
    regarding: field(8, objectReference, { description: 'What the event is about.' }),
    related: optional(9, objectReference, { description: 'Another object that has to do with it.' }),
    note: field(10, string(), { description: 'Details for people.' }),
    type: field(11, string(), { description: 'Normal or Warning.' }),
    deprecatedSource: field(12, eventSource, { description: 'Who reports an event of the older sort.' }),
    deprecatedFirstTimestamp: field(13, time(), {
      presence: 'always',
      description: 'When an event of the older sort first happened.',
    }),
    deprecatedLastTimestamp: field(14, time(), {
      presence: 'always',
      description: 'When an event of the older sort last happened.',
    }),
    deprecatedCount: field(15, integer32(), { description: 'How often an event of the older sort happened.' }),
  },
  { required: ['eventTime'], description: 'Something that happened.' },
);
