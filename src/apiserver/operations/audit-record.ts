import { randomUUID } from 'node:crypto';
import type { Status } from '../../api/errors.js';
import { goJson, htmlEscaped } from '../../api/go-text.js';
import { compactJson, isJson, parseJson } from '../../api/json-text.js';
import { messageOf } from '../../api/message-of.js';
import { isList, isObject, type Json, type JsonObject } from '../../api/object.js';
import type { UserInfo } from '../../api/user.js';
import type { Decision } from '../../auth/authorizer.js';
import type { Impersonated } from '../../auth/impersonation.js';
import { TurnTaking } from '../../runtime/turn-taking.js';
import { represent } from '../represent.js';
import { type ApiRequest, plainJson, type RequestBody, type RequestRecord, type Result } from '../request.js';
import { type AuditFacts, type AuditStatus, type ObjectReference, sourceAddresses } from './audit-event.js';
import { type AuditRequirement, reaches, type Stage } from './audit-policy.js';
import { isLongRunning } from './in-flight.js';

/** The dependencies of a record. */
export interface RecordParts {
  readonly required: AuditRequirement;
  readonly received: number;
  write(stage: Stage, facts: AuditFacts): void;
  failed(error: unknown): void;
}

/** The maximum size of a body in an event, in bytes. A larger one is left out, and an annotation says so. */
const largestBody = 1024 * 1024;

/** The audit record of one request, which collects its facts. */
export class AuditRecord implements RequestRecord {
  readonly #request: ApiRequest;
  /** The ID of the event; generated here for requests of this process, which have none. */
  readonly #id: string;
  readonly #parts: RecordParts;
  readonly #annotations = new Map<string, string>();
  readonly #sourceIPs: readonly string[];
  #object: ObjectReference | undefined;
  readonly #user: UserInfo | undefined;
  #impersonated: Impersonated | undefined;
  #requestObject: string | undefined;
  #status: AuditStatus | undefined;
  #answer: Result | undefined;
  #isStarted = false;

  constructor(request: ApiRequest, user: UserInfo | undefined, parts: RecordParts) {
    this.#request = request;
    this.#id = request.auditId ?? randomUUID();
    this.#parts = parts;
    this.#user = user;
    this.#sourceIPs = sourceAddresses(request);
    const { info } = request;
    this.#object = info.isResource
      ? {
          resource: info.resource,
          namespace: info.namespace,
          name: info.name,
          uid: '',
          apiGroup: info.group,
          apiVersion: info.version,
          resourceVersion: '',
          subresource: info.subresource,
        }
      : undefined;
  }

  impersonating(impersonated: Impersonated): void {
    this.#impersonated = impersonated;
  }

  annotate(key: string, value: string, fromLevel?: 'Request'): void {
    if (fromLevel !== undefined && !reaches(this.#parts.required.level, fromLevel)) return;
    if (!this.#annotations.has(key)) this.#annotations.set(key, value);
  }

  decided({ verdict, reason, error }: Decision): void {
    const failed = verdict !== 'allow' && error !== undefined;
    if (!failed) this.annotate('authorization.k8s.io/decision', verdict === 'allow' ? 'allow' : 'forbid');
    this.annotate('authorization.k8s.io/reason', failed ? 'internal error' : reason);
  }

  deprecated(): void {
    this.annotate('k8s.io/deprecated', 'true');
  }

  sent(object: JsonObject, text: (object: JsonObject) => string): void {
    const { metadata } = object;
    if (this.#object !== undefined && isObject(metadata)) {
      const of = (name: string): string => {
        const value = metadata[name];
        return typeof value === 'string' ? value : '';
      };
      this.#object = {
        ...this.#object,
        namespace: this.#object.namespace || of('namespace'),
        name: this.#object.name || of('name'),
        uid: of('uid'),
        resourceVersion: of('resourceVersion'),
      };
    }
    if (!reaches(this.#parts.required.level, 'Request')) return;
    try {
      this.#keepRequest(text(this.#parts.required.omitManagedFields ? withoutManagedFields(object) : object));
    } catch (error) {
      this.#parts.failed(error);
    }
  }

  async sentPatch(body: RequestBody): Promise<void> {
    if (!reaches(this.#parts.required.level, 'Request')) return;
    try {
      if (body.bytes.length > largestBody) return this.#tooLarge();
      const text = body.bytes.toString('utf8');
      if (isJson(text)) return this.#keepRequest(htmlEscaped(compactJson(text)));
      if (!body.contentType?.includes('yaml')) return;
      const { readYaml } = await import('../../api/yaml.js');
      const turns = new TurnTaking();
      this.#keepRequest(goJson((await readYaml(body.bytes, () => turns.next())).value));
    } catch {
      // An unreadable patch is rejected, and the response gives the reason.
    }
  }

  #keepRequest(text: string): void {
    if (text.length > largestBody) this.#tooLarge();
    else this.#requestObject = text;
  }

  #tooLarge(): void {
    this.annotate('audit.k8s.io/truncated', 'true');
  }

  /** Records that the request was received. */
  received(): void {
    this.#emit('RequestReceived');
  }

  /** Records the response, or the beginning of one. */
  answered(result: Result): void {
    if (result.type === 'object' && result.definition === undefined && isStatus(result.object)) {
      this.#status = result.object;
    }
    this.#answer = result;
  }

  /** Records that the headers of a long-running response were sent. */
  started(): void {
    this.#isStarted = true;
    this.#status = { code: 200 };
    this.#emit('ResponseStarted');
  }

  /** Records the response to a caller who was not authenticated. */
  async unidentified(result: Result): Promise<void> {
    this.answered(result);
    this.#emit('ResponseStarted', await this.#answerOnRecord());
  }

  /** Records that the response was sent. */
  async complete(code: number): Promise<void> {
    this.#status = this.#status?.code === code ? this.#status : { ...this.#status, code };
    const text = await this.#answerOnRecord();
    // The response to a rejected watch has two stages as well.
    if (isLongRunning(this.#request.info) && !this.#isStarted) this.#emit('ResponseStarted', text);
    this.#emit('ResponseComplete', text);
  }

  /** Records that an unexpected error prevented a response. */
  panicked(error: unknown): void {
    this.#status = {
      status: 'Failure',
      message: `APIServer panic'd: ${messageOf(error)}`,
      reason: 'InternalError',
      code: 500,
    };
    this.#emit('Panic');
  }

  /** Returns the text of the response, if it is to be recorded. */
  async #answerOnRecord(): Promise<string | undefined> {
    if (!reaches(this.#parts.required.level, 'RequestResponse')) return undefined;
    try {
      return await this.#answerText();
    } catch (error) {
      this.#parts.failed(error);
      return undefined;
    }
  }

  async #answerText(): Promise<string | undefined> {
    const answer = this.#answer;
    if (answer === undefined || answer.type === 'watch' || answer.type === 'text' || answer.type === 'bytes')
      return undefined;
    const entries = answer.type === 'list' ? answer.entries : answer.type === 'entry' ? [answer.entry] : [];
    if (entries.reduce((sum, { bytes }) => sum + bytes.length, 0) > largestBody) {
      this.#tooLarge();
      return undefined;
    }
    const { body } = await represent(answer, plainJson, this.#parts.received);
    const text = Buffer.concat([...body.chunks])
      .toString('utf8')
      .trimEnd();
    if (text.length > largestBody) {
      this.#tooLarge();
      return undefined;
    }
    if (!this.#parts.required.omitManagedFields) return text;
    return goJson(withoutManagedFields(parseJson(text) as JsonObject));
  }

  #emit(stage: Stage, responseObject?: string): void {
    const { required, received } = this.#parts;
    if (required.omitStages.has(stage)) return;
    const { info, uri } = this.#request;
    this.#parts.write(stage, {
      level: required.level,
      auditId: this.#id,
      uri,
      verb: info.verb,
      user: this.#user,
      impersonated: this.#impersonated?.user,
      constraint: this.#impersonated?.constraint,
      sourceIPs: this.#sourceIPs,
      userAgent: this.#request.header('user-agent') ?? '',
      object: this.#object,
      status: this.#status,
      requestObject: this.#requestObject,
      responseObject,
      received,
      annotations: this.#annotations,
    });
  }
}

const isStatus = (object: object): object is Status => 'kind' in object && object.kind === 'Status';

/** Returns an object without metadata.managedFields, or a list without those of its items. */
function withoutManagedFields(object: JsonObject): JsonObject {
  const { items } = object;
  return isList(items) ? { ...object, items: items.map(bare) } : (bare(object) as JsonObject);
}

function bare(value: Json): Json {
  if (!isObject(value) || !isObject(value['metadata'])) return value;
  const { managedFields: _left, ...rest } = value['metadata'];
  return { ...value, metadata: rest };
}
