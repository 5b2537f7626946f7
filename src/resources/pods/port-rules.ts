import type { ContainerPort } from '../../api/kinds/pod.js';
import {
  child,
  duplicate,
  eachInvalid,
  index,
  invalid,
  invalidPort,
  required,
  type Violation,
  validateEach,
} from '../../api/violations.js';
import { duplicateName, supportedWord, type WithPaths } from './common-rules.js';

const protocols = ['SCTP', 'TCP', 'UDP'];

/** Validates the ports of one container. */
export function portViolations(path: string, ports: readonly ContainerPort[]): readonly Violation[] {
  const names = new Set<string>();
  return validateEach(ports, (port, position) => {
    const at = index(path, position);
    const { containerPort = 0, hostPort = 0, name = '', protocol = '' } = port;
    const wrong = name === '' ? [] : portName(name);
    const numbered = (field: string, number: number): readonly Violation[] =>
      eachInvalid(child(at, field), number, invalidPort(number));
    return [
      ...eachInvalid(child(at, 'name'), name, wrong),
      ...(name === '' || wrong.length > 0 ? [] : duplicateName(at, name, names)),
      ...(containerPort === 0 ? [required(child(at, 'containerPort'))] : numbered('containerPort', containerPort)),
      ...(hostPort === 0 ? [] : numbered('hostPort', hostPort)),
      ...supportedWord(child(at, 'protocol'), protocol, protocols),
    ];
  });
}

const portName = (text: string): readonly string[] => [
  ...(text.length > 15 ? ['must be no more than 15 characters'] : []),
  ...(/^[-a-z0-9]+$/.test(text) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(text) ? [] : ['must contain at least one letter (a-z)']),
  ...(text.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(text.startsWith('-') || text.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
];

/** Reports host ports that several containers use at the same time. */
export function hostPortConflicts(ports: WithPaths<ContainerPort>): readonly Violation[] {
  const usedPorts = new Set<string>();
  return validateEach(ports, ([path, { hostPort = 0, hostIP = '', protocol = '' }]) => {
    const port = `${protocol}/${hostIP}/${hostPort}`;
    if (hostPort === 0) return [];
    if (usedPorts.has(port)) return [duplicate(child(path, 'hostPort'), port)];
    usedPorts.add(port);
    return [];
  });
}

export const hostNetworkViolations = (ports: WithPaths<ContainerPort>): readonly Violation[] =>
  validateEach(ports, ([path, { hostPort = 0, containerPort = 0 }]) =>
    hostPort === containerPort
      ? []
      : [invalid(child(path, 'hostPort'), hostPort, 'must match `containerPort` when `hostNetwork` is true')],
  );
