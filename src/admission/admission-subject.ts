import type { ErrorSubject } from '../api/errors.js';
import type { AdmissionAttributes } from './admission-step.js';

/** Returns the name in the request; empty for deletecollection. */
export const nameOf = ({ isCollectionDelete, key }: AdmissionAttributes): string =>
  isCollectionDelete ? '' : key.name;

/** Returns the subject of an admission error. An object without a name is identified by its generateName. */
export const admissionSubject = (attributes: AdmissionAttributes): ErrorSubject => {
  const { resource, object } = attributes;
  return {
    group: resource.group,
    plural: resource.plural,
    name: nameOf(attributes) || object?.metadata.name || object?.metadata.generateName || 'Unknown',
  };
};

/**
 * Returns the subject of an error that does not come from admission in Kubernetes: its name is empty while it is still
 * to be generated.
 */
export const namedSubject = ({ resource, object }: AdmissionAttributes): ErrorSubject => ({
  group: resource.group,
  plural: resource.plural,
  name: object?.metadata.name ?? '',
});
