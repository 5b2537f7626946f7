import type { AdmissionStep } from '../../../../../src/admission/admission-step.js';
import { admissionSubject } from '../../../../../src/admission/admission-subject.js';
import { forbidden } from '../../../../../src/api/errors.js';

const label = 'example.com/team';

/** Every namespace made from now on says whose it is, and goes on saying so. */
export const namespaceOwner: AdmissionStep = {
  name: 'NamespaceOwner',

  handles: ({ operation, resource, subresource }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === '' &&
    resource.plural === 'namespaces' &&
    !subresource,

  async validate(attributes) {
    const { object, user } = attributes;
    if (user.groups.includes('system:masters') || object?.metadata.labels?.[label]) return;
    throw forbidden(admissionSubject(attributes), `the label ${label} is missing`);
  },
};
