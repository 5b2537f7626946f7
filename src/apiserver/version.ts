const ownBuild = '+kedge';

/** Whether this version is that of a server of this package. */
export const isOwnVersion = (gitVersion: string): boolean => gitVersion.endsWith(ownBuild);

/** The response of /version: the Kubernetes version whose behaviour this server has, and its own identity. */
export const serverVersion = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: `v1.36.0${ownBuild}`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node ${process.version}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
} as const;
