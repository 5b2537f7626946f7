import { forbidden, internalError, notFound } from '../../api/errors.js';
import { quote } from '../../api/go-text.js';
import { LocalSubjectAccessReviews } from '../../api/kinds/access-review.js';
import { isTerminating, Namespaces } from '../../api/kinds/namespace.js';
import { pathSegment } from '../../api/names.js';
import { isType } from '../../api/object.js';
import type { ObjectSource } from '../../auth/object-source.js';
import type { AdmissionAttributes, AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';

/**
 * Refuses writes in a namespace that does not exist, and creates in one that is terminating. Runs first, so that this
 * error takes precedence over errors about the object.
 */
export const namespaceExists = ({ objects }: { readonly objects: ObjectSource }): AdmissionStep => ({
  name: 'NamespaceLifecycle',

  handles: ({ operation, resource, key }) =>
    operation !== 'DELETE' && resource.namespaced && !!key.namespace && !isType(resource, LocalSubjectAccessReviews),

  async mutate(attributes) {
    await checkNamespace(objects, attributes);
    return attributes.object;
  },
});

/**
 * Checks the namespace again before a new object is stored, if other servers were called in the meantime: if the
 * namespace was deleted then, the controller that empties it would not see an object that is stored later.
 */
export const namespaceStillExists = ({
  objects,
  after,
}: {
  readonly objects: ObjectSource;
  readonly after: readonly AdmissionStep[];
}): AdmissionStep => {
  const { name, handles } = namespaceExists({ objects });
  return {
    name,
    handles: (attributes) =>
      attributes.operation === 'CREATE' &&
      handles(attributes) &&
      (attributes.isConverted === true || after.some((step) => step.handles(attributes))),
    beforeCreation: (attributes) => checkNamespace(objects, attributes),
  };
};

/** Throws unless the namespace exists and, for a create, accepts new objects. */
export async function checkNamespace(
  objects: Pick<ObjectSource, 'get'>,
  attributes: AdmissionAttributes,
): Promise<void> {
  const { operation, key } = attributes;
  const { namespace = '' } = key;
  const found = await objects.get(Namespaces, { name: namespace });
  const wrong = found === undefined ? pathSegment(namespace) : [];
  if (wrong.length > 0) throw internalError(`invalid resource name ${quote(namespace)}: [${wrong.join(' ')}]`);
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces', name: namespace });
  if (operation !== 'CREATE' || !isTerminating(found)) return;
  throw forbidden(
    admissionSubject(attributes),
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}
