import { badRequest } from '../../api/errors.js';
import { cannotUnmarshal, type ParsedJson } from '../../api/json-exact.js';
import { asJson, isObject, type JsonObject } from '../../api/object.js';
import type { FieldValidation } from '../../api/options.js';
import type { Steps } from '../../api/steps.js';
import { readYaml, YamlError } from '../../api/yaml.js';
import { type Applied, applyConfiguration, unconvertible } from '../../apply/apply-configuration.js';
import { wrongOwners } from '../../apply/configuration-rules.js';
import type { Applying } from '../../apply/writing.js';
import { runInTurns, TurnTaking } from '../../runtime/turn-taking.js';
import type { Emptied } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-error.js';
import type { RequestBody } from '../request.js';
import type { Decoded } from './index.js';
import { converted, inConverter } from './unstructured.js';

/** The body of an apply request. */
export interface Configuration {
  readonly config: JsonObject;
  /** Repeated members, as the complaint about them reads; for fieldValidation once the apply has succeeded. */
  readonly repeated: string | undefined;
}

/** Reads the body of an apply request, YAML or JSON. Throws ApiError 400. */
export async function readApplyConfiguration(body: RequestBody): Promise<Configuration> {
  const { value, duplicates } = await readText(body);
  const repeated = duplicates.length === 0 ? undefined : `error converting YAML to JSON: ${duplicates.join(', ')}`;
  if (value === null) return { config: {}, repeated };
  if (!isObject(value)) {
    const why = cannotUnmarshal(value, 'map[string]interface {}');
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
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
 * Applies a configuration and turns the result into an object of the kind. `decode` reads it as any body of the kind
 * is read, defaults included; its complaints become the 500 that Kubernetes answers.
 *
 * @throws ApiError
 */
export async function applied(
  applying: Applying,
  { isBuiltIn, decode }: { readonly isBuiltIn: boolean; readonly decode: (object: JsonObject) => Steps<Decoded> },
): Promise<Applied & Emptied> {
  const turns = new TurnTaking();
  const made = await runInTurns(applyConfiguration(applying), turns);
  const wrong = isBuiltIn ? wrongOwners(applying.config) : undefined;
  if (wrong !== undefined) throw unconvertible(applying.config, wrong);
  if (!made.changed) return made;
  const object = asJson(made.object);
  if (turns.isDue) await turns.next();
  const fitting = isBuiltIn ? await runInTurns(converted(applying.schema, object, 'float'), turns) : { value: object };
  if (fitting.problem !== undefined) throw unconvertible(applying.config, fitting.problem);
  if (turns.isDue) await turns.next();
  const { emptied, object: decoded } = await runInTurns(decodedBy(decode(fitting.value), applying.config), turns);
  return { ...made, object: decoded, emptied };
}

function* decodedBy(decoding: Steps<Decoded>, config: JsonObject): Steps<Decoded> {
  try {
    return yield* decoding;
  } catch (error) {
    if (error instanceof DecodeError) throw unconvertible(config, inConverter(error));
    throw error;
  }
}

/** What fieldValidation makes of repeated members: a warning to send, or 400. */
export function checkRepeated(
  { repeated }: Configuration,
  fieldValidation: FieldValidation,
  warn: (text: string) => void,
): void {
  if (repeated === undefined || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') throw badRequest(`error strict decoding YAML: ${repeated}`);
  for (const line of repeated.split('\n').slice(1)) warn(line.trim());
}
