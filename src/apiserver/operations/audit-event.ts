import { isIP } from 'node:net';
import type { Status } from '../../api/errors.js';
import { goJson } from '../../api/go-text.js';
import { compareText } from '../../api/text-order.js';
import { microTimestamp } from '../../api/time.js';
import type { UserInfo } from '../../api/user.js';
import { utf8Text } from '../../api/utf8-text.js';
import { withoutTokens } from '../../runtime/redaction.js';
import type { Level, Stage } from './audit-policy.js';

/** The facts about a request at one of its stages. */
export interface AuditFacts {
  readonly level: Level;
  readonly auditId: string;
  readonly uri: string;
  readonly verb: string;
  /** The authenticated user; undefined if there is none. */
  readonly user: UserInfo | undefined;
  readonly impersonated: UserInfo | undefined;
  /** The verb of constrained impersonation that allowed the impersonation. */
  readonly constraint: string | undefined;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly object: ObjectReference | undefined;
  /** The status of the response; undefined until there is one. */
  readonly status: AuditStatus | undefined;
  /** JSON text. */
  readonly requestObject: string | undefined;
  /** JSON text. */
  readonly responseObject: string | undefined;
  /** The time of arrival, in milliseconds since the epoch. */
  readonly received: number;
  readonly annotations: ReadonlyMap<string, string>;
}

export interface ObjectReference {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** The members of the Status in the response that have a limited size; for any other response only the code. */
export interface AuditStatus extends Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details'>> {
  readonly code?: number;
}

/** The maximum length of the user agent in bytes. */
const agentLimit = 1_024;

/** Returns an event as a line of the log: an Event of audit.k8s.io/v1. */
export const auditLine = (event: string): string =>
  `{"kind":"Event","apiVersion":"audit.k8s.io/v1",${event.slice(1)}\n`;

/** Returns events as the body of a request: an EventList. */
export const auditList = (events: readonly string[]): string =>
  `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.join(',')}]}\n`;

/** Returns an event as it is written in a list, with its members in the order of Kubernetes. */
export function auditEvent(stage: Stage, now: number, facts: AuditFacts): string {
  const { user, impersonated, constraint, sourceIPs, userAgent, object, status, annotations } = facts;
  const head = {
    level: facts.level,
    auditID: facts.auditId,
    stage,
    requestURI: withoutTokens(facts.uri),
    verb: facts.verb,
    user: userOf(user),
    ...(impersonated === undefined ? {} : { impersonatedUser: userOf(impersonated) }),
    ...(constraint === undefined ? {} : { authenticationMetadata: { impersonationConstraint: constraint } }),
    ...(sourceIPs.length === 0 ? {} : { sourceIPs }),
    ...(userAgent === '' ? {} : { userAgent: shortened(userAgent) }),
    ...(object === undefined ? {} : { objectRef: filled(object) }),
    ...(status === undefined ? {} : { responseStatus: statusOf(status) }),
  };
  const tail = {
    requestReceivedTimestamp: microTimestamp(facts.received),
    stageTimestamp: microTimestamp(now),
    ...(annotations.size === 0 ? {} : { annotations: Object.fromEntries([...annotations].sort(byKey)) }),
  };
  const objects = [
    facts.requestObject === undefined ? '' : `,"requestObject":${facts.requestObject}`,
    facts.responseObject === undefined ? '' : `,"responseObject":${facts.responseObject}`,
  ].join('');
  return `${goJson(head).slice(0, -1)}${objects},${goJson(tail).slice(1)}`;
}

const byKey = ([a]: [string, string], [b]: [string, string]): number => compareText(a, b);

function shortened(agent: string): string {
  const bytes = Buffer.from(agent);
  if (bytes.length <= agentLimit) return agent;
  // A character that was cut in two is replaced byte by byte.
  return `${utf8Text(bytes.subarray(0, agentLimit)).replace(/\p{Surrogate}/gu, '\ufffd')}...TRUNCATED`;
}

const userOf = (user: UserInfo | undefined): object =>
  user === undefined
    ? {}
    : {
        ...(user.username === '' ? {} : { username: user.username }),
        ...(user.uid ? { uid: user.uid } : {}),
        ...(user.groups.length === 0 ? {} : { groups: user.groups }),
        ...(user.extra === undefined || Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
      };

const filled = (object: ObjectReference): object =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== ''));

const statusOf = ({ status, message, reason, details, code }: AuditStatus): object => ({
  metadata: {},
  ...(status === undefined ? {} : { status }),
  ...(message === undefined || message === '' ? {} : { message }),
  ...(reason === undefined || reason === '' ? {} : { reason }),
  ...(details === undefined ? {} : { details }),
  ...(code === undefined ? {} : { code }),
});

interface RequestSource {
  header(name: string): string | undefined;
  /** The address of the peer. */
  readonly remoteAddress?: string | undefined;
}

const isAddress = (text: string): boolean => text.length <= longestAddress && isIP(text) !== 0 && !text.includes('%');
/** The maximum length of an address: that of an IPv6 address with an embedded IPv4 address. */
const longestAddress = 45;
const mostForwarded = 64;

/** Returns the source addresses of a request: those that proxies report, followed by that of the peer. */
export function sourceAddresses(sent: RequestSource): readonly string[] {
  const forwarded = (sent.header('x-forwarded-for') ?? '')
    .split(',', mostForwarded)
    .map((text) => text.trim())
    .filter(isAddress);
  const real = sent.header('x-real-ip')?.trim() ?? '';
  const known = isAddress(real) && !forwarded.includes(real) ? [...forwarded, real] : forwarded;
  const peer = sent.remoteAddress?.replace(/^::ffff:(?=\d)/, '') ?? '';
  return peer === '' || known.at(-1) === peer ? known : [...known, peer];
}
