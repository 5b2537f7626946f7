import type { Event } from '../../api/kinds/event.js';
import { dnsSubdomain, qualifiedName } from '../../api/names.js';
import { eachInvalid, invalid, required, type Violation } from '../../api/violations.js';
import { same } from '../../schema/same.js';

/** Validation of events of both groups, in the form and with the field names of the core group. */

const mismatch = 'does not match event.namespace';
const maxNameLength = 128;
const maxMessageLength = 1_024;

/**
 * Validates what both groups require. Events with an eventTime have the newer form: they say who reports them and why.
 */
export function validateEvent(
  event: Event,
  { reporter }: { readonly reporter: 'reportingComponent' | 'reportingController' },
): readonly Violation[] {
  const namespace = event.metadata.namespace ?? '';
  const involved = event.involvedObject?.namespace ?? '';
  const isNew = Boolean(event.eventTime);
  const anywhere = isNew ? ['default', 'kube-system'] : ['', 'default'];
  const agrees = involved === '' ? anywhere.includes(namespace) : isNew || involved === namespace;
  return [
    ...(agrees ? [] : [invalid('involvedObject.namespace', involved, mismatch)]),
    ...(isNew ? validateReport(event, reporter) : []),
    ...eachInvalid('namespace', namespace, dnsSubdomain(namespace)),
  ];
}

function validateReport(event: Event, reporter: string): readonly Violation[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event;
  const atMost = (path: string, text: string, most: number): readonly Violation[] =>
    Buffer.byteLength(text) > most ? [invalid(path, '', `can have at most ${most} characters`)] : [];
  const needed = (path: string, text: string): readonly Violation[] =>
    text === '' ? [required(path)] : atMost(path, text, maxNameLength);
  return [
    ...(reportingComponent === '' ? [required(reporter)] : []),
    ...eachInvalid(reporter, reportingComponent, qualifiedName(reportingComponent)),
    ...needed('reportingInstance', reportingInstance),
    ...needed('action', action),
    ...needed('reason', reason),
    ...atMost('message', message, maxMessageLength),
  ];
}

/** Validates what only `events.k8s.io` requires: new events have the newer form, and only the series can change. */
export const validateStrictly = (next: Event, previous: Event | undefined): readonly Violation[] =>
  previous === undefined ? validateNew(next) : validateChange(next, previous);

function validateNew(event: Event): readonly Violation[] {
  const { eventTime, type = '', firstTimestamp, lastTimestamp, count, source } = event;
  const unset = (path: string, isSet: boolean): readonly Violation[] =>
    isSet ? [invalid(path, '', 'needs to be unset')] : [];
  return [
    ...validateSeries(event),
    ...(eventTime ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', Boolean(firstTimestamp)),
    ...unset('lastTimestamp', Boolean(lastTimestamp)),
    ...unset('count', Boolean(count)),
    ...unset('source', Boolean(source?.component || source?.host)),
  ];
}

function validateSeries({ series }: Event): readonly Violation[] {
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [required('series.lastObservedTime')]),
  ];
}

function validateChange(next: Event, previous: Event): readonly Violation[] {
  const unchanged = (path: string, read: (event: Event) => unknown): readonly Violation[] => {
    const value = read(next);
    return same(value, read(previous)) ? [] : [invalid(path, value, 'field is immutable')];
  };
  const reason = unchanged('reason', (event) => event.reason ?? '');
  return [
    ...(same(next.series, previous.series) ? [] : validateSeries(next)),
    ...unchanged('involvedObject', ({ involvedObject }) => asInternal(involvedObject ?? {}, referenceMembers)),
    ...reason,
    ...unchanged('message', ({ message = '' }) => message),
    ...unchanged('source', ({ source }) => asInternal(source ?? {}, sourceMembers)),
    ...unchanged('firstTimestamp', ({ firstTimestamp }) => firstTimestamp || null),
    ...unchanged('lastTimestamp', ({ lastTimestamp }) => lastTimestamp || null),
    ...unchanged('count', ({ count = 0 }) => count),
    // Kubernetes checks the reason twice.
    ...reason,
    ...unchanged('type', ({ type = '' }) => type),
    ...unchanged('eventTime', ({ eventTime }) => eventTime || null),
    ...unchanged('action', ({ action = '' }) => action),
    ...unchanged('related', ({ related }) => (related ? asInternal(related, referenceMembers) : null)),
    ...unchanged('reportingController', ({ reportingComponent = '' }) => reportingComponent),
    ...unchanged('reportingInstance', ({ reportingInstance = '' }) => reportingInstance),
  ];
}

/** Members as errors print them: in Go's internal types, which have no JSON names. */
const referenceMembers = ['Kind', 'Namespace', 'Name', 'UID', 'APIVersion', 'ResourceVersion', 'FieldPath'];
const sourceMembers = ['Component', 'Host'];

function asInternal(object: object, members: readonly string[]): Readonly<Record<string, unknown>> {
  const known = new Map(Object.entries(object).map(([name, value]) => [name.toLowerCase(), value as unknown]));
  return Object.fromEntries(members.map((member) => [member, known.get(member.toLowerCase()) ?? '']));
}
