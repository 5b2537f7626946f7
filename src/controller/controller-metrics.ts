/** How a reconcile ended. `requeue`: well, and it wants another look; `retry`: badly; `terminal`: badly and for good. */
export type ReconcileOutcome = 'done' | 'requeue' | 'retry' | 'terminal';

/** What controllers count. Labels are the controller's name. */
export interface ControllerMetrics {
  reconciled(controller: string, outcome: ReconcileOutcome, seconds: number): void;
  queueDepth(controller: string, depth: number): void;
}
