import { annotationsLimit, sizeOfAnnotations } from '../api/annotations.js';
import { goLowerCase } from '../api/go-text.js';
import { qualifiedName } from '../api/names.js';
import type { JsonObject } from '../api/object.js';
import type { Steps } from '../api/steps.js';
import { eachInvalid, required, tooLong, type Violation, validateEachInSteps } from '../api/violations.js';

/** Validates a user's annotations for a signer: keys are as in the annotations of objects, and each has a domain. */
export function* userAnnotationViolations(path: string, annotations: JsonObject): Steps<readonly Violation[]> {
  const keys = yield* validateEachInSteps(Object.keys(annotations), (name) => {
    const key = goLowerCase(name);
    if (key === '') return [required(path)];
    const wrong = qualifiedName(key);
    const text = 'must be a domain-prefixed key (such as "acme.io/foo")';
    return eachInvalid(path, key, wrong.length > 0 || key.includes('/') ? wrong : [text]);
  });
  return [...keys, ...(sizeOfAnnotations(annotations) > annotationsLimit ? [tooLong(path, annotationsLimit)] : [])];
}
