import { invalidObject } from '../../api/errors.js';
import type { ApiObject, ObjectKey } from '../../api/object.js';
import type { SubresourceProjection } from '../../registry/resource-definition.js';
import type { Parts } from '../parts.js';
import type { Result } from '../request.js';
import { updateObject, type WriteRequest } from '../write.js';

/**
 * A write through another kind computed from the object, such as Scale: `change` makes the projected object
 * from the current one, which is then written back into the object.
 */
export async function projectedWrite(
  parts: Parts,
  write: WriteRequest,
  key: ObjectKey,
  projection: SubresourceProjection<ApiObject>,
  change: (current: ApiObject) => Promise<ApiObject>,
): Promise<Result> {
  const written = await updateObject(parts, write, key, {
    change: async (current) => {
      if (current === undefined) throw new Error('a projection never creates');
      const projected = await change((projection.readForWrite ?? projection.read)(current));
      const violations = projection.validate?.(projected) ?? [];
      if (violations.length) throw invalidObject({ ...projection.of, name: key.name }, violations);
      const next = projection.write(current, projected);
      const { resourceVersion, uid } = projected.metadata;
      return {
        object: {
          ...next,
          metadata: { ...next.metadata, resourceVersion: resourceVersion ?? '', ...(uid === undefined ? {} : { uid }) },
        },
        managed: false,
      };
    },
    checkUid: false,
    create: false,
  });
  const object =
    written.entry === undefined
      ? written.object
      : {
          ...written.object,
          metadata: { ...written.object.metadata, resourceVersion: String(written.entry.revision) },
        };
  return { type: 'object', code: 200, object: projection.read(object) };
}
