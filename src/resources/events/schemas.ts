import { field, integer32, microTime, optional, string, structsOf, time } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { coreStruct } from '../core-struct.js';
import { objectReference } from '../object-reference-schema.js';

const struct = structsOf('io.k8s.api.events.v1');

/** Schemas of events in the core group and in `events.k8s.io`. */

const eventSource = coreStruct(
  'EventSource',
  {
    component: field(1, string(), { description: 'Component that reports the event.' }),
    host: field(2, string(), { description: 'Node on which the event is generated.' }),
  },
  { description: 'Component that reports an event.' },
);

/** core/v1 Event. */
export const eventSchema = coreStruct(
  'Event',
  {
    ...objectMembers,
    involvedObject: field(2, objectReference, { description: 'Object that the event is about.' }),
    reason: field(3, string(), { description: 'Reason for the event, as one word in CamelCase.' }),
    message: field(4, string(), { description: 'Human-readable details.' }),
    source: field(5, eventSource, { description: 'Component that reports the event.' }),
    firstTimestamp: field(6, time(), { presence: 'always', description: 'Time of the first occurrence.' }),
    lastTimestamp: field(7, time(), { presence: 'always', description: 'Time of the most recent occurrence.' }),
    count: field(8, integer32(), { description: 'Number of occurrences.' }),
    type: field(9, string(), { description: 'Type of the event: Normal or Warning.' }),
    eventTime: field(10, microTime(), {
      presence: 'always',
      description: 'Time at which the event was first observed.',
    }),
    series: optional(
      11,
      coreStruct(
        'EventSeries',
        {
          count: field(1, integer32(), { description: 'Number of occurrences up to lastObservedTime.' }),
          lastObservedTime: field(2, microTime(), {
            presence: 'always',
            description: 'Time of the most recent occurrence.',
          }),
        },
        { description: 'Series of repeated occurrences of an event.' },
      ),
      { description: 'Series that the event represents; absent for a single event.' },
    ),
    action: field(12, string(), { description: 'Action that was taken or failed.' }),
    related: optional(13, objectReference, { description: 'Secondary object that the event involves.' }),
    reportingComponent: field(14, string(), {
      presence: 'always',
      description: 'Name of the controller that reports the event.',
    }),
    reportingInstance: field(15, string(), {
      presence: 'always',
      description: 'ID of the controller instance that reports the event.',
    }),
  },
  { required: ['metadata', 'involvedObject'], description: 'Report of something that happened to an object.' },
);

/** events.k8s.io/v1 Event. */
export const eventsV1Schema = struct(
  'Event',
  {
    ...objectMembers,
    eventTime: field(2, microTime(), {
      presence: 'always',
      description: 'Time at which the event was first observed.',
    }),
    series: optional(
      3,
      struct(
        'EventSeries',
        {
          count: field(1, integer32(), {
            presence: 'always',
            description: 'Number of occurrences up to lastObservedTime.',
          }),
          lastObservedTime: field(2, microTime(), {
            presence: 'always',
            description: 'Time of the most recent occurrence.',
          }),
        },
        {
          required: ['count', 'lastObservedTime'],
          description: 'Series of repeated occurrences of an event.',
        },
      ),
      { description: 'Series that the event represents; absent for a single event.' },
    ),
    reportingController: field(4, string(), { description: 'Name of the controller that reports the event.' }),
    reportingInstance: field(5, string(), { description: 'ID of the controller instance that reports the event.' }),
    action: field(6, string(), { description: 'Action that was taken or failed.' }),
    reason: field(7, string(), { description: 'Reason for the action, as one word in CamelCase.' }),
    regarding: field(8, objectReference, { description: 'Object that the event is about.' }),
    related: optional(9, objectReference, { description: 'Secondary object that the event involves.' }),
    note: field(10, string(), { description: 'Human-readable details.' }),
    type: field(11, string(), { description: 'Type of the event: Normal or Warning.' }),
    deprecatedSource: field(12, eventSource, { description: 'Source of the event in the core/v1 API.' }),
    deprecatedFirstTimestamp: field(13, time(), {
      presence: 'always',
      description: 'First timestamp of the event in the core/v1 API.',
    }),
    deprecatedLastTimestamp: field(14, time(), {
      presence: 'always',
      description: 'Last timestamp of the event in the core/v1 API.',
    }),
    deprecatedCount: field(15, integer32(), { description: 'Count of the event in the core/v1 API.' }),
  },
  { required: ['eventTime'], description: 'Report of something that happened to an object.' },
);
