import { forbidden } from '../../api/errors.js';
import type { AdmissionStep } from '../admission-step.js';
import { admissionSubject } from '../admission-subject.js';

/** Namespaces that other parts of the server rely on. */
const immortal: readonly string[] = ['default', 'kube-system', 'kube-public'];

/** Refuses to delete the namespaces that the server itself needs. */
export const immortalNamespaces: AdmissionStep = {
  name: 'NamespaceLifecycle',

  handles: ({ operation, resource, subresource, key }) =>
    operation === 'DELETE' &&
    resource.group === '' &&
    resource.plural === 'namespaces' &&
    !subresource &&
    immortal.includes(key.name),

  async beforeDeletion(attributes) {
    throw forbidden(admissionSubject(attributes), 'this namespace may not be deleted');
  },
};
