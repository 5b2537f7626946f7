import type { ErrorSubject } from '../api/errors.js';
import type { AdmissionAttributes } from './admission-step.js';

/** The name a request is about: of a collection that is deleted none is named. */
export const nameOf = ({ isCollectionDelete, key }: AdmissionAttributes): string =>
  isCollectionDelete ? '' : key.name;

/** What a refusal by admission is about: an object without a name is called by its generateName. */
export const admissionSubject = (attributes: AdmissionAttributes): ErrorSubject => {
  const { resource, object } = attributes;
  return {
    group: resource.group,
    plural: resource.plural,
    name: nameOf(attributes) || object?.metadata.name || object?.metadata.generateName || 'Unknown',
  };
};

/** What a refusal is about that is not admission's in Kubernetes: a name that is still to be generated is none. */
export const namedSubject = ({ resource, object }: AdmissionAttributes): ErrorSubject => ({
  group: resource.group,
  plural: resource.plural,
  name: object?.metadata.name ?? '',
});
