import type { ErrorSubject } from '../api/errors.js';
import type { AdmissionAttributes } from './admission-step.js';

/** The name in the request; empty for deletecollection. */
export const nameOf = ({ isCollectionDelete, key }: AdmissionAttributes): string =>
  isCollectionDelete ? '' : key.name;

/** The subject of an admission error; an object without a name is identified by its generateName. */
export const admissionSubject = (attributes: AdmissionAttributes): ErrorSubject => {
  const { resource, object } = attributes;
  return {
    group: resource.group,
    plural: resource.plural,
    name: nameOf(attributes) || object?.metadata.name || object?.metadata.generateName || 'Unknown',
  };
};

/**
 * The subject of an error that in Kubernetes does not come from admission: empty while the name is still to be
 * generated.
 */
export const namedSubject = ({ resource, object }: AdmissionAttributes): ErrorSubject => ({
  group: resource.group,
  plural: resource.plural,
  name: object?.metadata.name ?? '',
});
