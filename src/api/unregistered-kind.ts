import { quote } from './go-text.js';
import { shortVersion } from './object.js';
import type { TypeMeta } from './type-meta.js';

/** Kubernetes' name for a scheme without a name: the source line that created it. */
export const unnamedScheme = 'pkg/runtime/scheme.go:111';

/** Returns Kubernetes' error for a kind that is not registered in a scheme, which is a table of kinds. */
export function notRegistered({ apiVersion, kind }: TypeMeta, scheme: string): string {
  const group = internalGroup(apiVersion);
  const version =
    group === undefined ? `version ${quote(apiVersion)}` : `the internal version of group ${quote(group)}`;
  return `no kind ${quote(kind)} is registered for ${version} in scheme ${quote(scheme)}`;
}

/** Returns the group of an apiVersion of Kubernetes' internal version, which is never served; undefined for others. */
export const internalGroup = (apiVersion: string): string | undefined =>
  shortVersion(apiVersion) === '__internal' ? apiVersion.slice(0, -'/__internal'.length) : undefined;
