import type { Subject } from '../api/errors.js';
import type { AdmissionAttributes } from './admission-step.js';

/** What a refusal by admission is about: an object without a name is called by its generateName. */
export const admissionSubject = ({ resource, key, object }: AdmissionAttributes): Subject => ({
  group: resource.group,
  plural: resource.plural,
  name: key.name || object?.metadata.name || object?.metadata.generateName || 'Unknown',
});
