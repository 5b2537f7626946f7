import { forbidden } from '../../api/errors.js';
import { Namespaces } from '../../api/kinds/namespace.js';
import { isType } from '../../api/object.js';
import type { AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';

/** Namespaces that other parts of the server rely on. */
const protectedNamespaces: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Refuses to delete the namespaces that the server itself needs. */
export const immortalNamespaces: AdmissionStep = {
  name: 'NamespaceLifecycle',

  handles: ({ operation, resource, subresource, key }) =>
    operation === 'DELETE' && isType(resource, Namespaces) && !subresource && protectedNamespaces.includes(key.name),

  async beforeDeletion(attributes) {
    throw forbidden(admissionSubject(attributes), 'this namespace may not be deleted');
  },
};
