import type { RotationState } from '../../controllers/ca-rotation/ca-rotation.js';
import type { Clock } from '../runtime/clock.js';
import type { Metrics } from '../runtime/metrics.js';

const phases: readonly RotationState['phase'][] = ['steady', 'announced', 'spreading', 'retiring', 'unusable'];

/**
 * Reports the progress of CA rotations, and what delays them, by Secret, on the server that runs the controllers.
 * Returns the function to call whenever a CA was checked.
 */
export function rotationMetrics(
  metrics: Metrics,
  clock: Pick<Clock, 'now'>,
): (secret: string, state: RotationState | undefined) => void {
  const known = new Map<string, RotationState>();
  metrics.measured(
    {
      name: 'kedge_ca_rotation_phase',
      help: '1 if the rotation of a CA is in this phase, 0 otherwise.',
      labels: ['secret', 'phase'],
    },
    async () =>
      [...known].flatMap(([secret, state]) =>
        phases.map((phase) => ({ labels: { secret, phase }, value: phase === state.phase ? 1 : 0 })),
      ),
  );
  metrics.measured(
    {
      name: 'kedge_ca_rotation_phase_start_timestamp_seconds',
      help: 'Time when the rotation of a CA entered its phase, in seconds since 1970; absent while it is steady.',
      labels: ['secret'],
    },
    async () =>
      [...known].flatMap(([secret, { since }]) =>
        since === undefined ? [] : [{ labels: { secret }, value: since / 1_000 }],
      ),
  );
  metrics.measured(
    {
      name: 'kedge_ca_rotation_held_up_seconds',
      help: 'Time since the next CA was announced whose anchor an object still lacks in seconds, with the first such object.',
      labels: ['secret', 'object'],
    },
    async () =>
      [...known].flatMap(([secret, { lacking }]) =>
        lacking === undefined
          ? []
          : [{ labels: { secret, object: lacking.text }, value: (clock.now() - lacking.since) / 1_000 }],
      ),
  );
  return (secret, state) => {
    if (state === undefined) known.delete(secret);
    else known.set(secret, state);
  };
}
