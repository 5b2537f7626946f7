import { internalError } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { JsonSyntaxError, readJson } from '../../api/json-text.js';
import { readMediaType } from '../../api/media-type.js';
import { isObject, type Json, type JsonObject, member, shortVersion } from '../../api/object.js';
import { reviewVersions } from '../../api/review-versions.js';
import { statusTexts } from '../../api/status-texts.js';
import { type TypeMeta, typeMetaIn } from '../../api/type-meta.js';
import { notRegistered, unnamedScheme } from '../../api/unregistered-kind.js';
import type { WebhookResponse } from './exchange.js';
import { CallFailed } from './webhook-client.js';

/** The properties of the review that the response must contain. */
export interface ExpectedReview {
  readonly group: string;
  /** The version that was sent. */
  readonly version: string;
  readonly kind: string;
  /** The maximum number of values (members and items) in a response. */
  readonly maxValues: number;
  /** Whether to keep numbers as they are written (`ExactJson`) if no member is repeated. */
  readonly exact?: boolean;
}

type Reading = Partial<Pick<ExpectedReview, 'maxValues' | 'exact'>>;

const maxShown = 2_048;

/**
 * Reads the review in the response of a webhook, and checks its kind and version if it names them.
 *
 * @throws CallFailed with the text of a Kubernetes client
 */
export async function readReply(reply: WebhookResponse, expected: ExpectedReview): Promise<JsonObject> {
  const { status, body } = reply;
  const contentType = reply.contentType || 'application/json';
  const media = readMediaType(contentType);
  if ('wrong' in media) throw new CallFailed(internalError(media.wrong).message, { code: 500 });
  if (status < 200 || status > 206) throw await httpFailure(reply);
  if (body.length === 0) {
    throw new CallFailed(`0-length response with status code: ${status} and content type: ${contentType}`);
  }
  const value = (await parsed(body, expected)) ?? {};
  const meta = typeMetaIn(value);
  if ('wrong' in meta) throw new CallFailed(meta.wrong);
  checkKind(meta, expected);
  return value as JsonObject;
}

/** Parses a body: as JSON if it begins like an object, otherwise as YAML, whatever its media type. */
async function parsed(body: Buffer, reading: Reading = {}): Promise<Json> {
  if (/^\s*\{/.test(body.toString('latin1', 0, maxShown))) return parsedJson(body, reading);
  const { readYaml, YamlError } = await import('../../api/yaml.js');
  try {
    return (await readYaml(body)).value;
  } catch (error) {
    throw error instanceof YamlError ? new CallFailed(error.message, { cause: error }) : error;
  }
}

function parsedJson(body: Buffer, { exact = false, ...limits }: Reading): Json {
  try {
    const read = readJson(body, limits);
    return exact && read.duplicates.length === 0 ? (read.exact as Json) : read.value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new CallFailed(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
  }
}

function checkKind(meta: TypeMeta, expected: ExpectedReview): void {
  const expectedVersion = `${expected.group}/${expected.version}`;
  const apiVersion = meta.apiVersion || expectedVersion;
  const kind = meta.kind || expected.kind;
  const isReview = kind === expected.kind && reviewVersions.some((one) => apiVersion === `${expected.group}/${one}`);
  if (!isReview && !(apiVersion === 'v1' && kind === 'Status')) {
    throw new CallFailed(notRegistered({ apiVersion, kind }, unnamedScheme));
  }
  if (apiVersion === expectedVersion && isReview) return;
  throw new CallFailed(
    `converting (${shortVersion(apiVersion)}.${kind}) to (${expected.version}.${expected.kind}): unknown conversion`,
  );
}

/** Returns the error for an HTTP error code; the message of a Status in the body takes precedence. */
async function httpFailure({ status, contentType, body }: WebhookResponse): Promise<CallFailed> {
  return (
    (await statusFailure(body)) ??
    new CallFailed(genericMessage(status, shownText(contentType, body)), { code: status })
  );
}

async function statusFailure(body: Buffer): Promise<CallFailed | undefined> {
  const value = await parsed(body).catch(() => undefined);
  if (!isObject(value) || value['status'] !== 'Failure') return undefined;
  const { kind, apiVersion, message, code } = value;
  if (kind !== 'Status' || (apiVersion || 'v1') !== 'v1') return undefined;
  return new CallFailed(typeof message === 'string' ? message : '', { code: codeIn(code) });
}

/** Returns the code as Kubernetes counts it: 0 for anything but a number. Metrics limit the other values. */
const codeIn = (code: Json | undefined): number =>
  typeof code === 'number' && Number.isInteger(code) && code > 0 ? code : 0;

function shownText(contentType: string | undefined, body: Buffer): string {
  const isText = !contentType || /^\s*text\//i.test(contentType);
  return isText ? body.subarray(0, maxShown).toString('utf8').trim() : 'unknown';
}

function genericMessage(status: number, shown: string): string {
  const known = member<string>(statusTexts, String(status));
  if (known !== undefined) return known;
  if (status === 403 || status === 415) return shown;
  if (status === 406) {
    return shown === '' || shown === 'unknown'
      ? 'the server was unable to respond with a content type that the client supports'
      : shown;
  }
  return status >= 500
    ? `an error on the server (${quote(shown)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}
