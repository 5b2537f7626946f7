import { ApiError, badRequest } from '../api/errors.js';
import { goJson } from '../api/go-text.js';
import type { JsonObject } from '../api/object.js';
import type { DeleteBody } from '../api/options.js';
import { runSync } from '../api/steps.js';
import { notRegistered, unnamedScheme } from '../api/unregistered-kind.js';
import { decodeText, typeMetaOf } from '../schema/decode.js';
import { deleteOptions } from '../schema/meta.js';
import { decodeOrRefuse } from './bodies.js';
import { type Parsed, parseBody, parseFailure } from './body-format.js';
import { checkTypeMeta, isVersionless, missingVersionMessage } from './kind-mismatch.js';
import { isOptionsKind, optionsVersion } from './registered-kinds.js';
import type { ApiRequest } from './request.js';

/** Reads the DeleteOptions in the body of a DELETE; undefined without a body. */
export async function readDeleteBody(request: ApiRequest): Promise<DeleteBody | undefined> {
  const body = await request.body();
  if (body.bytes.length === 0) return undefined;
  let parsed: Parsed;
  try {
    parsed = await parseBody(body, deleteOptions);
    const { apiVersion, kind } = checkTypeMeta(typeMetaOf(parsed.text.exact));
    const isBare = apiVersion === '' || apiVersion === 'meta.k8s.io/';
    const typeMeta = { kind, apiVersion: isBare ? optionsVersion : apiVersion };
    if (isVersionless(typeMeta)) throw badRequest(missingVersionMessage(parsed.raw ?? goJson(parsed.text.value)));
    if (kind !== '' && kind !== 'DeleteOptions') {
      throw badRequest(
        isOptionsKind(typeMeta)
          ? `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`
          : notRegistered(typeMeta, unnamedScheme),
      );
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badRequest(parseFailure(error));
  }
  const { value } = runSync(decodeOrRefuse(badRequest, decodeText(deleteOptions, parsed.text)));
  request.record?.sent({ kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...(value as JsonObject) }, goJson);
  return value as DeleteBody;
}
