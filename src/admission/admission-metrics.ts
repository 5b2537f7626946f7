import type { Clock } from '../runtime/clock.js';
import type { Histogram, Metrics } from '../runtime/metrics.js';
import type { AdmissionAttributes } from './admission-step.js';

/** The phases of admission: `admit` is mutating admission and runs before `validate`. */
export type AdmissionPhase = 'admit' | 'validate';
type Operation = AdmissionAttributes['operation'];

/** Measures admission. */
export interface AdmissionMetrics {
  /** Runs a phase with all its steps, and measures it. */
  phase<T>(type: AdmissionPhase, operation: Operation, act: () => Promise<T>): Promise<T>;
  /** Runs one step, and measures it. */
  step<T>(name: string, type: AdmissionPhase, operation: Operation, act: () => Promise<T>): Promise<T>;
}

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Returns the metrics of kube-apiserver about admission. */
export function admissionMetrics(metrics: Metrics, clock: Clock): AdmissionMetrics {
  const phases = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Time taken by an admission step in seconds, by operation and type.',
    labels: ['operation', 'rejected', 'type'],
    buckets,
  });
  const steps = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Time taken by an admission policy in seconds, by name.',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets,
  });
  const timed = async <L extends string, T>(
    histogram: Histogram<L | 'rejected'>,
    labels: Readonly<Record<L, string>>,
    act: () => Promise<T>,
  ): Promise<T> => {
    const start = clock.monotonic();
    let rejected = 'true';
    try {
      const result = await act();
      rejected = 'false';
      return result;
    } finally {
      histogram.observe({ ...labels, rejected }, (clock.monotonic() - start) / 1_000);
    }
  };
  return {
    phase: (type, operation, act) => timed(phases, { operation, type }, act),
    step: (name, type, operation, act) => timed(steps, { name, operation, type }, act),
  };
}
