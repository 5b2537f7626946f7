import type { ApiObject } from '../../src/api/object.js';
import { runSync } from '../../src/api/steps.js';
import { type Applied, applyConfiguration } from '../../src/apply/apply-configuration.js';
import { recordUpdate } from '../../src/apply/ownership.js';
import type { ApplyContext } from '../../src/apply/write-context.js';

/** Field ownership for small objects, recorded at once and not in steps. */

export const recorded = (writing: Parameters<typeof recordUpdate>[0]): ApiObject => runSync(recordUpdate(writing));

export const appliedAtOnce = (applying: ApplyContext): Applied => runSync(applyConfiguration(applying));
