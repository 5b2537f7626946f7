import { badRequest, invalidObject } from './errors.js';
import { type FieldSelector, parseFieldSelector } from './field-selectors.js';
import { isInt64, maxUint64 } from './go-integers.js';
import { quote } from './go-text.js';
import { type LabelSelector, parseLabelSelector } from './label-selectors.js';
import { pathSegment } from './names.js';
import {
  forbiddenField,
  invalid,
  notSupported,
  notSupportedTypedString,
  required,
  tooLong,
  type Violation,
} from './violations.js';

/** Parses and validates the query options of every verb as kube-apiserver does. */

/** The parameters of a query: the first value of a parameter wins; `all` is for those that may be repeated. */
export interface Query {
  get(name: string): string | undefined;
  all(name: string): readonly string[];
}

/** Reads a boolean: absent, `0` and `false` are false; everything else, also the empty text, is true. */
export const readBoolean = (value: string | undefined): boolean =>
  value !== undefined && value !== '0' && value.toLowerCase() !== 'false';

/** More digits than 64 bits have. Converting millions of digits takes seconds, and the result is out of range anyway. */
const manyDigits = 25;

/** Converts digits with an optional sign to a number; for too many digits returns any number out of range. */
function wholeOf(text: string): bigint {
  const [, sign = '', digits = ''] = /^([+-]?)0*(\d*)$/.exec(text) ?? [];
  return BigInt(`${sign === '-' ? '-' : ''}${digits.slice(0, manyDigits) || '0'}`);
}

/** Parses a decimal int64. Throws BadRequest with Go's error. */
function readInteger(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: invalid syntax`);
  const number = wholeOf(value);
  if (!isInt64(number)) {
    throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: value out of range`);
  }
  return Number(number);
}

/** Parses a decimal uint64, or returns Go's error. */
export function parseResourceVersion(text: string): bigint | { readonly wrong: string } {
  if (!/^\d+$/.test(text)) return { wrong: `strconv.ParseUint: parsing ${quote(text)}: invalid syntax` };
  const number = wholeOf(text);
  return number > maxUint64 ? { wrong: `strconv.ParseUint: parsing ${quote(text)}: value out of range` } : number;
}

export interface ListParameters {
  readonly labels: LabelSelector | undefined;
  readonly fields: FieldSelector | undefined;
  readonly shardSelector: string | undefined;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  /** The resource version as it was sent; empty and absent both mean the most recent one. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly limit: number | undefined;
  readonly continue: string | undefined;
  readonly sendInitialEvents: boolean | undefined;
}

const matches = ['Exact', 'NotOlderThan', ''];

export function readListParameters(query: Query): ListParameters {
  const sendInitialEvents = query.get('sendInitialEvents');
  const timeoutSeconds = readInteger(query.get('timeoutSeconds'));
  const limit = readInteger(query.get('limit'));
  const [labels, fields] = [query.get('labelSelector'), query.get('fieldSelector')];
  return {
    labels: labels ? parseLabelSelector(labels) : undefined,
    fields: fields ? parseFieldSelector(fields) : undefined,
    shardSelector: query.get('shardSelector') || undefined,
    watch: readBoolean(query.get('watch')),
    allowWatchBookmarks: readBoolean(query.get('allowWatchBookmarks')),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') || undefined,
    timeoutSeconds,
    limit,
    continue: query.get('continue') || undefined,
    sendInitialEvents: sendInitialEvents === undefined ? undefined : readBoolean(sendInitialEvents),
  };
}

/**
 * Returns the name that the field selector of a list or watch pins down, so that rights to that object suffice; otherwise
 * '', also if one of the options is invalid.
 */
export function selectedName(query: Query): string {
  if (!query.get('fieldSelector')) return '';
  try {
    const name = readListParameters(query).fields?.exactly('metadata.name') ?? '';
    return pathSegment(name).length === 0 ? name : '';
  } catch {
    // The list itself reports the error.
    return '';
  }
}

const match = 'resourceVersionMatch';
/** Throws for invalid combinations of list parameters; for watches only if a parameter requests the watch, not the path. */
export function checkListParameters(options: ListParameters): void {
  const found = options.watch ? watchViolations(options) : listViolations(options);
  if (found.length) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, found);
}

const withContinue = forbiddenField(match, 'resourceVersionMatch is forbidden when continue is provided');

function listViolations(options: ListParameters): readonly Violation[] {
  const { resourceVersionMatch: versionMatch, resourceVersion, continue: token, sendInitialEvents } = options;
  const found: Violation[] = [];
  if (versionMatch !== undefined) {
    if (resourceVersion === '')
      found.push(forbiddenField(match, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (token) found.push(withContinue);
    if (!matches.includes(versionMatch)) found.push(notSupportedTypedString(match, versionMatch, matches));
    if (versionMatch === 'Exact' && resourceVersion === '0') {
      found.push(forbiddenField(match, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (sendInitialEvents !== undefined) {
    found.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return found;
}

function watchViolations(options: ListParameters): readonly Violation[] {
  const { resourceVersionMatch: versionMatch, continue: token, sendInitialEvents, resourceVersion } = options;
  const found: Violation[] = [];
  if (sendInitialEvents !== undefined && versionMatch !== 'NotOlderThan') {
    found.push(forbiddenField(match, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (versionMatch !== undefined && sendInitialEvents === undefined) {
    found.push(
      forbiddenField(match, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    );
  }
  if (versionMatch !== undefined && versionMatch !== 'NotOlderThan')
    found.push(notSupportedTypedString(match, versionMatch, ['NotOlderThan']));
  // A watch without a version begins with the present state, as if that had been requested.
  const impliesMatch = sendInitialEvents === undefined && (resourceVersion === '' || resourceVersion === '0');
  if (token && (versionMatch !== undefined || impliesMatch)) found.push(withContinue);
  return found;
}

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';
export interface WriteParameters {
  readonly dryRun: boolean;
  /** The values of `dryRun` as sent, possibly repeated, for webhooks. */
  readonly givenDryRun: readonly string[];
  readonly fieldManager: string | undefined;
  readonly fieldValidation: FieldValidation;
  /** The field validation as it was sent, for webhooks; undefined if there was none. */
  readonly givenFieldValidation: FieldValidation | undefined;
  /** Whether an apply takes over fields that other managers own; undefined if the parameter is absent. */
  readonly force: boolean | undefined;
}

/** The maximum length of a field manager's name, in bytes. */
export const managerLimit = 128;
/** Matches characters that such a name must not contain. */
export const unprintable = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
const everyUnprintable = new RegExp(unprintable, 'gu');
const validations = ['', 'Ignore', 'Strict', 'Warn'];

function dryRunViolations(values: readonly string[]): readonly Violation[] {
  return values.length > 0 && values.some((value) => value !== 'All') ? [notSupported('dryRun', values, ['All'])] : [];
}

/** Returns the violations in the name of a field manager, of a write or of an entry of `managedFields`. */
export function managerViolations(path: string, manager: string): readonly Violation[] {
  if (Buffer.byteLength(manager) > managerLimit) return [tooLong(path, managerLimit)];
  return [...manager.matchAll(everyUnprintable)].map(({ 0: character, index }) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const at = Buffer.byteLength(manager.slice(0, index));
    return invalid(path, manager, `invalid character U+${code} (at position ${at})`);
  });
}

/** Returns the options of a create, update or patch; `kind` names the options object in errors. */
export function readWriteParameters(
  query: Query,
  {
    kind,
    apply = false,
  }: { readonly kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'; readonly apply?: boolean },
): WriteParameters {
  const dryRun = query.all('dryRun');
  const fieldManager = query.get('fieldManager') || undefined;
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = query.get('force');
  const found: Violation[] = [];
  if (kind === 'PatchOptions') {
    if (apply && fieldManager === undefined) found.push(required('fieldManager', 'is required for apply patch'));
    if (!apply && force !== undefined) found.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  }
  found.push(...managerViolations('fieldManager', fieldManager ?? ''), ...dryRunViolations(dryRun));
  if (!validations.includes(fieldValidation)) found.push(notSupported('fieldValidation', fieldValidation, validations));
  if (found.length) throw invalidObject({ group: 'meta.k8s.io', kind }, found);
  const givenFieldValidation = fieldValidation === '' ? undefined : (fieldValidation as FieldValidation);
  return {
    dryRun: dryRun.length > 0,
    givenDryRun: dryRun,
    fieldManager,
    fieldValidation: givenFieldValidation ?? 'Warn',
    givenFieldValidation,
    force: force === undefined ? undefined : readBoolean(force),
  };
}

/** What happens to the dependents of a deleted object. */
export interface DeletionPolicy {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly orphanDependents?: boolean | undefined;
}

export interface DeleteParameters extends DeletionPolicy {
  readonly dryRun: boolean;
  /** The values as sent, possibly repeated, for webhooks. */
  readonly givenDryRun: readonly string[];
  readonly gracePeriodSeconds: number | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** DeleteOptions as sent in a body, already decoded. */
export interface DeleteBody {
  readonly dryRun?: readonly string[];
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Returns the options of a DELETE without a body. */
function deleteBodyOf(query: Query): DeleteBody {
  const gracePeriodSeconds = readInteger(query.get('gracePeriodSeconds'));
  const propagationPolicy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const uid = query.get('uid');
  const resourceVersion = query.get('resourceVersion');
  return {
    dryRun: query.all('dryRun'),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(orphan === undefined ? {} : { orphanDependents: readBoolean(orphan) }),
    ...(uid || resourceVersion
      ? { preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) } }
      : {}),
  };
}

const policies = ['Foreground', 'Background', 'Orphan', 'nil'];

/**
 * Returns the options of a deletion: from the body if there is one, otherwise from the query; the two are never mixed.
 */
export function readDeleteParameters(query: Query, body: DeleteBody | undefined): DeleteParameters {
  const options = body ?? deleteBodyOf(query);
  const { propagationPolicy: policy, orphanDependents, preconditions, dryRun = [] } = options;
  const found: Violation[] = [];
  if (policy !== undefined && orphanDependents !== undefined) {
    found.push(invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (policy !== undefined && !policies.slice(0, 3).includes(policy)) {
    found.push(notSupportedTypedString('propagationPolicy', policy, policies));
  }
  found.push(...dryRunViolations(dryRun));
  if (found.length) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, found);
  return {
    dryRun: dryRun.length > 0,
    givenDryRun: dryRun,
    gracePeriodSeconds: options.gracePeriodSeconds,
    propagationPolicy: policy as DeleteParameters['propagationPolicy'],
    orphanDependents,
    preconditions,
  };
}
