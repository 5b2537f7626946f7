import { badRequest } from '../../api/errors.js';
import { cannotUnmarshal, type ParsedJson } from '../../api/json-exact.js';
import { asJson, isObject, type JsonObject } from '../../api/object.js';
import type { FieldValidation } from '../../api/options.js';
import type { Steps } from '../../api/steps.js';
import { readYaml, YamlError } from '../../api/yaml.js';
import { type Applied, applyConfiguration, unconvertible } from '../../apply/apply-configuration.js';
import { wrongOwners } from '../../apply/configuration-rules.js';
import type { ApplyContext } from '../../apply/write-context.js';
import { runInTurns, TurnTaking } from '../../runtime/turn-taking.js';
import type { EmptyMembers } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-error.js';
import type { RequestBody } from '../request.js';
import type { DecodedObject } from './index.js';
import { converterMessage, convertUnstructured } from './unstructured.js';

/** The body of an apply request. */
export interface AppliedBody {
  readonly config: JsonObject;
  /** The error text for repeated members, which fieldValidation uses once the apply has succeeded. */
  readonly repeated: string | undefined;
}

/** Parses the body of an apply request, YAML or JSON. Throws ApiError (400). */
export async function readApplyConfiguration(body: RequestBody): Promise<AppliedBody> {
  const { value, duplicates } = await readText(body);
  const repeated = duplicates.length === 0 ? undefined : `error converting YAML to JSON: ${duplicates.join(', ')}`;
  if (value === null) return { config: {}, repeated };
  if (!isObject(value)) {
    const problem = cannotUnmarshal(value, 'map[string]interface {}');
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${problem}`);
  }
  return { config: value, repeated };
}

async function readText(body: RequestBody): Promise<Pick<ParsedJson, 'value' | 'duplicates'>> {
  const turns = new TurnTaking();
  try {
    return await readYaml(body.bytes, () => turns.next());
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

/**
 * Applies a configuration and converts the result to an object of the kind. `decode` decodes it as a body of the kind,
 * including defaults; a DecodeError becomes the 500 that Kubernetes returns.
 *
 * @throws ApiError
 */
export async function applyAndDecode(
  applying: ApplyContext,
  { isBuiltIn, decode }: { readonly isBuiltIn: boolean; readonly decode: (object: JsonObject) => Steps<DecodedObject> },
): Promise<Applied & EmptyMembers> {
  const turns = new TurnTaking();
  const applied = await runInTurns(applyConfiguration(applying), turns);
  const wrong = isBuiltIn ? wrongOwners(applying.config) : undefined;
  if (wrong !== undefined) throw unconvertible(applying.config, wrong);
  if (!applied.changed) return applied;
  const object = asJson(applied.object);
  if (turns.isDue) await turns.next();
  const fitting = isBuiltIn
    ? await runInTurns(convertUnstructured(applying.schema, object, 'float'), turns)
    : { value: object };
  if (fitting.problem !== undefined) throw unconvertible(applying.config, fitting.problem);
  if (turns.isDue) await turns.next();
  const { emptyMembers, object: decoded } = await runInTurns(decodedBy(decode(fitting.value), applying.config), turns);
  return { ...applied, object: decoded, emptyMembers };
}

function* decodedBy(decoding: Steps<DecodedObject>, config: JsonObject): Steps<DecodedObject> {
  try {
    return yield* decoding;
  } catch (error) {
    if (error instanceof DecodeError) throw unconvertible(config, converterMessage(error));
    throw error;
  }
}

/** Handles repeated members as fieldValidation requires: adds a warning or throws a 400. */
export function checkRepeated(
  { repeated }: AppliedBody,
  fieldValidation: FieldValidation,
  warn: (text: string) => void,
): void {
  if (repeated === undefined || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') throw badRequest(`error strict decoding YAML: ${repeated}`);
  for (const line of repeated.split('\n').slice(1)) warn(line.trim());
}
