import type { CustomResourceDefinitionCondition } from '../../src/api/kinds/custom-resource-definition.js';

const terminating = (status: 'True' | 'False', reason: string, message: string): CustomResourceDefinitionCondition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

/** The condition Terminating at each step. */
export const steps = {
  inProgress: terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'),
  completed: terminating('False', 'InstanceDeletionCompleted', 'removed all instances'),
  neverEstablished: terminating('False', 'NeverEstablished', 'resource was never established'),
  cannotList: (message: string) =>
    terminating('True', 'InstanceDeletionFailed', `could not list instances: ${message}`),
  cannotDelete: (message: string) =>
    terminating('True', 'InstanceDeletionFailed', `could not issue all deletes: ${message}`),
  stillThere: (message: string) =>
    terminating('True', 'InstanceDeletionCheck', `could not confirm zero CustomResources remaining: ${message}`),
} as const;

/** The time after which the condition reports instances that are held by finalizers. */
export const stuckAfterMs = 60_000;
