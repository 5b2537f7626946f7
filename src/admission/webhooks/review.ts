import type { JsonObject } from '../../api/object.js';
import type { UserInfo } from '../../api/user.js';
import type { AdmissionAttributes } from '../admission-step.js';
import { nameOf } from '../admission-subject.js';
import {
  namespaceOf,
  type ObjectInterfaces,
  originalAttributes,
  type ResourceKind,
  type VersionedAttributes,
} from './versioned-attributes.js';

/** Returns the AdmissionReview for a request, in the version that the webhook accepts. */
export function admissionReview(input: {
  readonly attributes: AdmissionAttributes;
  readonly seen: VersionedAttributes;
  readonly uid: string;
  /** The apiVersion, such as `admission.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly kinds: Pick<ObjectInterfaces, 'toJson'>;
}): JsonObject {
  const { attributes, seen, uid, apiVersion, kinds } = input;
  const shown = (object: VersionedAttributes['object']): JsonObject | null =>
    object === undefined ? null : kinds.toJson(object, seen.as);
  const { dryRun, options, ...members } = requestMembers(attributes, seen.as);
  return {
    kind: 'AdmissionReview',
    apiVersion,
    request: {
      uid,
      ...members,
      object: shown(seen.object),
      oldObject: shown(seen.previous),
      dryRun,
      options,
    } as JsonObject,
  };
}

/** Returns the members of the request in a review, except its objects. An absent name or namespace is left out. */
export function requestMembers(attributes: AdmissionAttributes, as: ResourceKind): JsonObject {
  const { subresource, operation, user, dryRun } = attributes;
  const requestedKind = originalAttributes(attributes).as;
  const [name, namespace] = [nameOf(attributes), namespaceOf(attributes)];
  return {
    kind: kindOf(as),
    resource: resourceOf(as),
    ...(subresource === undefined ? {} : { subResource: subresource }),
    requestKind: kindOf(requestedKind),
    requestResource: resourceOf(requestedKind),
    ...(subresource === undefined ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userInfo(user),
    dryRun,
    options: optionsOf(attributes),
  } as unknown as JsonObject;
}

const kindOf = ({ kind: { group, version, kind } }: ResourceKind) => ({ group, version, kind });
const resourceOf = ({ resource: { group, version, plural } }: ResourceKind) => ({ group, version, resource: plural });

function userInfo({ username, uid, groups, extra }: UserInfo) {
  return {
    ...(username ? { username } : {}),
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra !== undefined && Object.keys(extra).length > 0 ? { extra } : {}),
  };
}

/** The kinds of options. Patches are reviewed as the update or create that they result in. */
const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

function optionsOf({ operation, options = {} }: AdmissionAttributes) {
  if (operation === 'CONNECT') return null;
  const members = Object.entries(options).filter(([, value]) => value !== undefined);
  return { kind: optionKinds[operation], apiVersion: 'meta.k8s.io/v1', ...Object.fromEntries(members) };
}
