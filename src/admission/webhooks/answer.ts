import { bytesOfList, canonicalBase64 } from '../../api/base64.js';
import { ApiError, type Reason, type StatusCause, type StatusDetails } from '../../api/errors.js';
import { goJson, quote } from '../../api/go-text.js';
import { jsonKind, literalOf } from '../../api/json-exact.js';
import { isObject, type Json, type JsonObject, member } from '../../api/object.js';
import { reviewUidMismatch } from '../../api/review-uid.js';
import { CallFailed } from './webhook-client.js';

/** The verdict of a webhook. */
export interface Verdict {
  readonly allowed: boolean;
  /** Why the request is denied. */
  readonly status: DenialStatus | undefined;
  /** The text of a JSON Patch; empty if there is none. */
  readonly patch: Buffer;
  readonly warnings: readonly string[];
  readonly auditAnnotations: ReadonlyMap<string, string>;
}

/** The members of a Status that a denial contains. */
export interface DenialStatus {
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details: StatusDetails | undefined;
}

/** Thrown for a response that was decoded but breaks the rules of AdmissionReview. */
export class InvalidResponse extends Error {
  override readonly name = 'InvalidResponse';
}

/** The properties that the response must have. */
export interface ExpectedVerdict {
  readonly uid: string;
  readonly group: string;
  readonly version: string;
  readonly mutating: boolean;
}

/**
 * Reads the verdict in a returned review. Only reviews of version v1 are validated; those of v1beta1 never were.
 *
 * @throws CallFailed for members of a wrong type, InvalidResponse for a response that violates the rules
 */
export function readVerdict(review: JsonObject, question: ExpectedVerdict): Verdict {
  const members = reader(review, 'AdmissionReview');
  checkRequest(members.object('request', 'v1.AdmissionRequest'));
  const response = members.object('response', 'v1.AdmissionResponse');
  if (response === undefined) throw new InvalidResponse('webhook response was absent');
  const read = reader(response, 'AdmissionResponse', 'response');
  const uid = read.text('uid', 'types.UID') ?? '';
  const allowed = read.flag('allowed');
  const status = statusOf(read.object('status', 'v1.Status'));
  const patch = read.bytes('patch');
  const patchType = read.text('patchType', 'v1.PatchType');
  const auditAnnotations = texts(read.object('auditAnnotations', 'map[string]string'));
  const warnings = read.texts('warnings');
  const verdict = { allowed, status, patch, warnings, auditAnnotations };
  if (question.version !== 'v1') return question.mutating ? verdict : { ...verdict, patch: Buffer.alloc(0) };
  if (uid !== question.uid) {
    throw new InvalidResponse(reviewUidMismatch(question.uid, uid));
  }
  checkType(review, question);
  checkPatch(patch, patchType, question);
  return verdict;
}

/**
 * Checks the types of the members of the request in a response, as decoding in Go does, although the request is not
 * used; its objects may have any form.
 */
function checkRequest(request: JsonObject | undefined): void {
  if (request === undefined) return;
  const read = reader(request, 'AdmissionRequest', 'request');
  for (const name of ['subResource', 'requestSubResource', 'name', 'namespace']) read.text(name);
  read.text('uid', 'types.UID');
  read.text('operation', 'v1.Operation');
  read.flag('dryRun');
  for (const name of ['kind', 'requestKind']) {
    checkNamed(read.object(name, 'v1.GroupVersionKind'), 'GroupVersionKind', `request.${name}`, 'kind');
  }
  for (const name of ['resource', 'requestResource']) {
    checkNamed(read.object(name, 'v1.GroupVersionResource'), 'GroupVersionResource', `request.${name}`, 'resource');
  }
  checkUser(read.object('userInfo', 'v1.UserInfo'));
}

/** Checks a GroupVersionKind or GroupVersionResource. */
function checkNamed(members: JsonObject | undefined, struct: string, path: string, member: 'kind' | 'resource'): void {
  if (members === undefined) return;
  const { text } = reader(members, struct, path);
  for (const name of ['group', 'version', member]) text(name);
}

function checkUser(user: JsonObject | undefined): void {
  if (user === undefined) return;
  const [struct, path] = ['UserInfo', 'request.userInfo'];
  const read = reader(user, struct, path);
  for (const name of ['username', 'uid']) read.text(name);
  read.texts('groups');
  // An error in a map is reported without its key.
  for (const extra of Object.values(read.object('extra', 'map[string]v1.ExtraValue') ?? {})) {
    reader({ extra }, struct, path).texts('extra', 'v1.ExtraValue');
  }
}

function checkListMeta(metadata: JsonObject | undefined): void {
  if (metadata === undefined) return;
  const path = 'response.status.metadata';
  const read = reader(metadata, 'ListMeta', path);
  for (const name of ['selfLink', 'resourceVersion', 'continue']) read.text(name);
  read.integer('remainingItemCount', 'int64');
  const shard = read.object('shardInfo', 'v1.ShardInfo');
  if (shard !== undefined) reader(shard, 'ShardInfo', `${path}.shardInfo`).text('selector');
}

function checkType(review: JsonObject, { group, version }: ExpectedVerdict): void {
  const text = (name: string): string => {
    const value = review[name];
    return typeof value === 'string' ? value : '';
  };
  const [apiVersion, kind] = [text('apiVersion'), text('kind')];
  const expected = `${group}/${version}`;
  if (apiVersion === expected && kind === 'AdmissionReview') return;
  throw new InvalidResponse(
    `expected webhook response of ${expected}, Kind=AdmissionReview, got ${apiVersion || '/'}, Kind=${kind}`,
  );
}

function checkPatch(patch: Buffer, patchType: string | undefined, { mutating }: ExpectedVerdict): void {
  if (!mutating) {
    if (patch.length > 0) throw new InvalidResponse('validating webhook may not return response.patch');
    if (patchType !== undefined) throw new InvalidResponse('validating webhook may not return response.patchType');
    return;
  }
  if (patch.length > 0 && patchType === undefined) {
    throw new InvalidResponse('webhook returned response.patch but not response.patchType');
  }
  if (patch.length === 0 && patchType !== undefined) {
    throw new InvalidResponse('webhook returned response.patchType but not response.patch');
  }
  if (patchType === '') throw new InvalidResponse('webhook returned invalid response.patchType of ""');
}

/** Returns the patch type that a response of version v1 names; v1beta1 has only one. */
export function patchTypeOf(review: JsonObject, version: string): string {
  const response = review['response'];
  const patchType = isObject(response) ? response['patchType'] : undefined;
  return version === 'v1' && typeof patchType === 'string' ? patchType : 'JSONPatch';
}

/** Returns the error for a denial; its code is never that of a success. */
export function denial(webhook: string, status: DenialStatus | undefined): ApiError {
  const { message = '', reason = '', code = 0, details } = status ?? {};
  const by = `admission webhook ${quote(webhook)} denied the request`;
  return new ApiError({
    message: message || reason ? `${by}: ${message || reason}` : `${by} without explanation`,
    // The reason comes from the webhook and may be any text.
    ...(reason === '' ? {} : { reason: reason as Reason }),
    // HTTP status codes cannot be larger.
    code: code < 400 ? 400 : code > 999 ? 500 : code,
    details,
  });
}

function statusOf(status: JsonObject | undefined): DenialStatus | undefined {
  if (status === undefined) return undefined;
  const path = 'response.status';
  const read = reader(status, 'Status', path);
  for (const name of ['kind', 'apiVersion']) reader(status, 'Status', `${path}.TypeMeta`).text(name);
  checkListMeta(read.object('metadata', 'v1.ListMeta'));
  read.text('status');
  const details = read.object('details', 'v1.StatusDetails');
  return {
    message: read.text('message') ?? '',
    reason: read.text('reason', 'v1.StatusReason') ?? '',
    code: read.integer('code') ?? 0,
    details: details === undefined ? undefined : detailsOf(details),
  };
}

function detailsOf(details: JsonObject): StatusDetails {
  const read = reader(details, 'StatusDetails', 'response.status.details');
  const causes = read.objects('causes').map((cause): StatusCause => {
    const { text } = reader(cause, 'StatusCause', 'response.status.details.causes');
    return present({ reason: text('reason', 'v1.CauseType'), message: text('message'), field: text('field') });
  });
  return present({
    name: read.text('name'),
    group: read.text('group'),
    kind: read.text('kind'),
    uid: read.text('uid', 'types.UID'),
    causes: causes.length > 0 ? causes : undefined,
    retryAfterSeconds: read.integer('retryAfterSeconds'),
  });
}

/** Returns the object without absent and empty members. */
function present<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== '' && value !== 0);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

const bitsOf = { int32: 32, int64: 64 } as const;

const mismatch = (value: Json, struct: string, path: string, type: string): CallFailed => {
  // Only errors about numbers contain the value.
  const valueText =
    Object.hasOwn(bitsOf, type) && jsonKind(value) === 'number'
      ? `number ${literalOf(value) ?? goJson(value)}`
      : jsonKind(value);
  return new CallFailed(mismatchText(valueText, struct, path, type));
};
const mismatchText = (valueText: string, struct: string, path: string, type: string): string =>
  `json: cannot unmarshal ${valueText} into Go struct field ${struct}.${path} of type ${type}`;

function texts(map: JsonObject | undefined): ReadonlyMap<string, string> {
  const out = new Map<string, string>();
  for (const [key, value] of Object.entries(map ?? {})) {
    if (value === null) out.set(key, '');
    else if (typeof value === 'string') out.set(key, value);
    else throw mismatch(value, 'AdmissionResponse', 'response.auditAnnotations', 'string');
  }
  return out;
}

/**
 * Returns functions that read members as the decoder of Go does: null counts as absent. `path` is the path of the
 * object within the review, empty for the review itself.
 */
function reader(object: JsonObject, struct: string, path = '') {
  const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const value = (name: string): Json | undefined => {
    const found = member(object, name);
    return found === null ? undefined : found;
  };
  const wrong = (name: string, found: Json, type: string): CallFailed => mismatch(found, struct, pathOf(name), type);
  return {
    text(name: string, type = 'string'): string | undefined {
      const found = value(name);
      if (found === undefined || typeof found === 'string') return found;
      throw wrong(name, found, type);
    },
    bytes(name: string): Buffer {
      const found = value(name);
      if (Array.isArray(found)) {
        const bytes = bytesOfList(found);
        if ('wrong' in bytes) throw new CallFailed(mismatchText(bytes.wrong, struct, pathOf(name), 'uint8'));
        return bytes;
      }
      if (found !== undefined && typeof found !== 'string') throw wrong(name, found, '[]uint8');
      const canonical = canonicalBase64(found ?? '');
      if (typeof canonical === 'string') return Buffer.from(canonical, 'base64');
      throw new CallFailed(`illegal base64 data at input byte ${canonical.illegalAt}`);
    },
    flag(name: string): boolean {
      const found = value(name);
      if (found === undefined || typeof found === 'boolean') return found ?? false;
      throw wrong(name, found, 'bool');
    },
    /** Reads a number that is written as an integer, without an exponent. */
    integer(name: string, type: keyof typeof bitsOf = 'int32'): number | undefined {
      const found = value(name);
      if (found === undefined) return undefined;
      const integer =
        typeof found === 'bigint' || Number.isInteger(found) ? BigInt(found as number | bigint) : undefined;
      if (integer === undefined || BigInt.asIntN(bitsOf[type], integer) !== integer) throw wrong(name, found, type);
      return Number(integer);
    },
    texts(name: string, type = '[]string'): readonly string[] {
      const found = value(name);
      if (found === undefined) return [];
      if (!Array.isArray(found)) throw wrong(name, found, type);
      return found.map((item: Json) => {
        if (item === null) return '';
        if (typeof item === 'string') return item;
        throw wrong(name, item, 'string');
      });
    },
    object(name: string, type: string): JsonObject | undefined {
      const found = value(name);
      if (found === undefined || (isObject(found) && jsonKind(found) === 'object')) return found;
      throw wrong(name, found, type);
    },
    objects(name: string): readonly JsonObject[] {
      const found = value(name);
      if (found === undefined) return [];
      if (!Array.isArray(found)) throw wrong(name, found, '[]v1.StatusCause');
      return found.map((item: Json) => {
        if (item === null) return {};
        if (isObject(item) && jsonKind(item) === 'object') return item;
        throw wrong(name, item, 'v1.StatusCause');
      });
    },
  };
}
