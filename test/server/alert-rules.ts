import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../process/build.js';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

/** Returns the alerts that are distributed with the program, in order. */
export function readAlertRules(): readonly AlertRule[] {
  const { groups } = parse(readFileSync(join(root, 'config/prometheus-rules.yaml'), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
  };
  return groups.flatMap((group) => group.rules);
}
