import { quote } from './go-text.js';
import { shortVersion } from './object.js';
import type { TypeMeta } from './type-meta.js';

/** What Kubernetes calls a scheme that was given no name: the line of its source that made it. */
export const unnamedScheme = 'pkg/runtime/scheme.go:111';

/** Nobody has told the scheme, which is a table of kinds, of this one. */
export function notRegistered({ apiVersion, kind }: TypeMeta, scheme: string): string {
  const group = internalGroup(apiVersion);
  const version =
    group === undefined ? `version ${quote(apiVersion)}` : `the internal version of group ${quote(group)}`;
  return `no kind ${quote(kind)} is registered for ${version} in scheme ${quote(scheme)}`;
}

/** The group of Kubernetes' own form of its kinds, which has a version that nobody is served; undefined for others. */
export const internalGroup = (apiVersion: string): string | undefined =>
  shortVersion(apiVersion) === '__internal' ? apiVersion.slice(0, -'/__internal'.length) : undefined;
