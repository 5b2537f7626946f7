import { validateHeaderName, validateHeaderValue } from 'node:http';
import { runSync } from '../../src/api/steps.js';
import { readYaml } from '../../src/api/yaml.js';
import { statusSchema } from '../../src/resources/status-schema.js';
import { decodeEnvelope, readEnvelope } from '../../src/schema/protobuf.js';

/** The response to a request. */
export interface FuzzAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  /** Whether it is a stream: lines of events, of which the last may be incomplete. */
  readonly stream: boolean;
}

/**
 * The 5xx responses that Kubernetes sends, too, by code and text. All others are faults. Kubernetes' errors for faulty
 * apply and strategic merge patches are untyped, and so are those for resource versions that are not numbers.
 */
const allowed: readonly (readonly [code: number, text: RegExp])[] = [
  // Server-side apply: a configuration, or a stored object, that does not fit the schema.
  [500, /^failed to create typed (?:patch|live) object \(.*\): /s],
  [500, /^failed to convert new object \(.*\) to proper version: /s],
  // Another version, in which a manager owns fields, lacks fields that are declared in this one.
  [500, /^failed to convert (?:old|new) object: (?:errors:\n {2})?\.\S+: field not declared in schema/],
  [500, /^failed to create manager for existing fields: failed to convert new object \(.*\) to smd typed: /s],
  // Namespaces with path separators.
  [500, /^invalid key: "/],
  [500, /^Internal error occurred: invalid resource name "/],
  // Strategic merge patches whose directives and lists do not match.
  [500, /^map: .* does not contain declared merge key: /s],
  [500, /^The order in patch list:\n/],
  [500, /^unknown patch type: /],
  [500, /^no elements in any of the given slices$/],
  [500, /^value for key \d+ is not a map$/],
  [500, /^list element types are not identical: /],
  [500, /^expected a \S+( \S+)?, but received a /],
  [500, /^expected slice or array type, but got: struct$/],
  [500, /^merging lists cannot yet be specified in the patch$/],
  [500, /^cannot merge lists without merge key for struct$/],
  [500, /^merging an object in json but data type is not struct, instead is: /],
  [500, /^unable to find api field in struct \S* for the json field "/],
  // Resource versions that are not numbers, or are not allowed.
  [
    500,
    /^(?:resourceVersion: Invalid value: ".*": )?strconv\.ParseUint: parsing ".*": (?:invalid syntax|value out of range)$/s,
  ],
  [500, /^resourceVersion should not be set on objects to be created$/],
  [504, /^Timeout: Too large resource version: \d+, current: \d+$/],
  [500, /^invalid shard selector: /],
  // Custom resources that a patch left without a version, or that are requested as a list.
  [500, /^Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'$/],
  [500, /^content is not a list$/],
  // Subresources and reviews.
  [500, /^Internal error occurred: the spec replicas field ".*" does not exist$/],
  [500, /^\.\S+ accessor error: .* is of the type \S+, expected \S+$/s],
  [500, /^Internal error occurred: error validating audiences$/],
  [500, /^unsupported role reference kind: "/],
  // Other servers that do not respond.
  [500, /^Internal error occurred: failed calling webhook /],
  [500, /^conversion for .* (?:failed: |returned )/s],
  // Webhooks whose patches do not apply, or do not result in an object of the kind.
  [500, /^Internal error occurred: admission webhook "/],
  [500, /^Internal error occurred: Unable to complete the copy, /],
  [500, /^Internal error occurred: json: cannot unmarshal /],
  [500, /^Internal error occurred: illegal base64 data at input byte \d+$/],
  [500, /^converting \(\S+\) to \(\S+\): unknown conversion$/],
  [500, /^Internal error occurred: \w+ operation (?:does not apply|value must be)/],
  [500, /^Internal Server Error: ".*": failed to create RequestInfo: /s],
  // Callers that require an immediate response.
  [504, /^Timeout: request did not complete within requested timeout/],
  [504, /"message":"Timeout: request did not complete within the allotted timeout"/],
];

const isAllowed = (code: number, text: string): boolean =>
  allowed.some(([known, pattern]) => known === code && pattern.test(text));

/** Returns what is wrong with a response; empty if nothing is. */
export async function complaints(answer: FuzzAnswer): Promise<readonly string[]> {
  const { code, headers, body, stream } = answer;
  const found: string[] = [];
  if (!Number.isInteger(code) || code < 200 || code > 599) found.push(`status ${code}`);
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      for (const one of Array.isArray(value) ? value : [value]) validateHeaderValue(name, String(one));
    } catch {
      found.push(`header ${name} cannot be sent: ${JSON.stringify(value)}`);
    }
  }
  const read = await parsed(answer).catch((error: unknown) => {
    found.push(`the answer cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  });
  if (code >= 500) {
    const text = messageOf(read) ?? unreadMessage(body.toString());
    if (!isAllowed(code, text)) found.push(`${code} ${text.slice(0, 400)}`);
  }
  if (!stream && isFailure(read) && read['code'] !== code) found.push(`says ${String(read['code'])} and is ${code}`);
  return found;
}

const isFailure = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && 'status' in value && value.status === 'Failure' && 'code' in value;

const messageOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'message' in value ? String(value.message) : undefined;

/** Extracts the message of a Status in YAML that exceeds the parser's limits; any other text is all message. */
const unreadMessage = (text: string): string => /^message: (?:\|-\n {2})?(.*)/ms.exec(text)?.[1] ?? text;

/** Parses a response as the type that it declares. Throws if it is malformed. */
async function parsed({ headers, body, stream, code }: FuzzAnswer): Promise<unknown> {
  const type = String(headers['Content-Type'] ?? headers['content-type'] ?? '');
  if (body.length === 0 || String(headers['Content-Encoding'] ?? headers['content-encoding'] ?? '') !== '') return;
  if (type.startsWith('application/vnd.kubernetes.protobuf')) {
    if (stream) return checkFrames(body);
    const { kind } = readEnvelope(body);
    return kind === 'Status' ? runSync(decodeEnvelope(statusSchema, body)) : undefined;
  }
  if (type.startsWith('application/json')) {
    if (!stream) return JSON.parse(body.toString());
    const lines = body.toString().split('\n');
    for (const line of lines.slice(0, -1)) JSON.parse(line);
    return;
  }
  if (type.startsWith('application/yaml')) return readAnsweredYaml(body);
  if (type === '' && code !== 304) throw new Error('has no type');
  return;
}

/** Matches the errors of the parser's limits, which are for requests; responses may exceed them. */
const tooMuch = /^yaml: (?:document is larger than|document is too complex|exceeded max depth)/;

const readAnsweredYaml = (body: Buffer): Promise<unknown> =>
  readYaml(body).then(
    ({ value }) => value,
    (error: Error) => {
      if (!tooMuch.test(error.message)) throw error;
    },
  );

/** Checks that a protobuf stream is a sequence of messages, each with its length before it. */
function checkFrames(body: Buffer): void {
  for (let at = 0; at + 4 <= body.length; ) {
    const length = body.readUInt32BE(at);
    if (length === 0 || length > 16_000_000) throw new Error(`a frame of ${length} bytes`);
    at += 4 + length;
  }
}
