import { ApiError, badRequest, invalidObject } from '../../api/errors.js';
import { type ApiObject, groupVersion, type ObjectKey } from '../../api/object.js';
import { runSync } from '../../api/steps.js';
import { unnamedScheme } from '../../api/unregistered-kind.js';
import { recordUpdate } from '../../apply/ownership.js';
import { fromScale, toScale } from '../../apply/scale-ownership.js';
import type { SubresourceProjection } from '../../registry/resource-definition.js';
import { subresourceDefinition } from '../../registry/subresource.js';
import { readObject } from '../bodies.js';
import { decodeEntryInTurns } from '../entry-codec.js';
import type { Parts } from '../parts.js';
import type { Result } from '../request.js';
import { uidMismatch } from '../write/given-object.js';
import { runMutatingAdmission } from '../write/mutating-admission.js';
import { attributesOf, type WriteRequest } from '../write/request.js';
import { type ChangedObject, updateObject } from '../write/update.js';

/**
 * Writes through a projection of the object, such as Scale: `change` returns the new projection for the current one,
 * which is then written back into the object.
 */
export async function projectedWrite(
  parts: Parts,
  write: WriteRequest,
  key: ObjectKey,
  projection: SubresourceProjection<ApiObject>,
  { change, checkUid }: { readonly change: (current: ApiObject) => Promise<ChangedObject>; readonly checkUid: boolean },
): Promise<Result> {
  const { readForWrite = projection.read, readWritten = projection.read } = projection;
  const judged: WriteRequest = { ...write, validatedAs: { next: readWritten, previous: readWritten } };
  const written = await updateObject(parts, judged, key, {
    change: async (current) => {
      if (current === undefined) throw new Error('a projection never creates');
      const paths = projection.replicas;
      const live = toScale(current, readForWrite(current), paths);
      const changed = await change(live);
      const { uid } = changed.object.metadata;
      if (checkUid && uid && uid !== current.metadata.uid) {
        throw uidMismatch(write, key, [uid, current.metadata.uid ?? '']);
      }
      const owned = changed.managed ? changed.object : ownUpdate(write, projection, live, changed.object);
      const projected = await runMutatingAdmission(parts, attributesOf(write, 'UPDATE', owned, live));
      const violations = projection.validate?.(projected) ?? [];
      if (violations.length) throw invalidObject({ ...projection.of, name: key.name }, violations);
      const apiVersion = groupVersion(write.definition);
      const object = fromScale(projection.write(current, projected), projected, { paths, apiVersion });
      return { object, managed: true };
    },
    checkUid: false,
    create: false,
  });
  // Read back from the store, because the storage version may lack fields.
  const object =
    written.entry === undefined ? written.object : await decodeEntryInTurns(write.definition, written.entry);
  const definition = subresourceDefinition(write.definition, projection.of);
  return { type: 'object', code: 200, definition, object: readWritten(object) };
}

const ownUpdate = (
  { manager, managedSubresource, context }: WriteRequest,
  { of }: SubresourceProjection<ApiObject>,
  live: ApiObject,
  next: ApiObject,
): ApiObject =>
  runSync(
    recordUpdate({
      live,
      next,
      schema: of.schema,
      apiVersion: groupVersion(of),
      manager,
      subresource: managedSubresource,
      now: context.now,
    }),
  );

/** Reads the body of a PUT. In Kubernetes its type has no name in errors, so that they contain no details. */
export async function readProjected(...given: Parameters<typeof readObject>): Promise<ApiObject> {
  try {
    return await readObject(...given);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error;
    throw badRequest(`no kind is registered for the type v1.${given[2].kind} in scheme "${unnamedScheme}"`);
  }
}
