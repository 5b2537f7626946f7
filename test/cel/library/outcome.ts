import { ipText } from '../../../src/api/ip-address.js';
import { quantityText } from '../../../src/api/quantity.js';
import { runSync } from '../../../src/api/steps.js';
import { environmentOf } from '../../../src/cel/environment.js';
import { estimate } from '../../../src/cel/estimate.js';
import { ProgramFailed, program } from '../../../src/cel/evaluator.js';
import { kubernetesLibraries } from '../../../src/cel/kubernetes.js';
import { doubleText } from '../../../src/cel/library/value-text.js';
import { Duration, Failure, Optional, Timestamp, TypeValue, Uint, type Value } from '../../../src/cel/values.js';

const environment = environmentOf({ variables: new Map(), libraries: kubernetesLibraries });

export interface Outcome {
  /** The value as a text, or the failure after `! `. */
  readonly answer: string;
  readonly cost: number;
  /** One number if the least and the most are the same; `1..` if there is no upper limit. */
  readonly estimate: number | string;
}

/** Evaluates an expression without variables. */
export function outcome(expression: string): Outcome {
  const { checked, issues } = runSync(environment.compile(expression));
  if (checked === undefined) throw new Error(issues.map(String).join('\n'));
  const { min, max } = runSync(estimate(checked, environment, () => undefined));
  const told = { estimate: max > 1e15 ? `${min}..` : min === max ? min : `${min}..${max}` };
  try {
    const { value, cost } = runSync(program(checked, environment)).evaluate(() => undefined, { limit: 1_000_000 });
    return { answer: shown(value), cost, ...told };
  } catch (error) {
    if (error instanceof ProgramFailed) return { answer: `! ${error.message}`, cost: 0, ...told };
    throw error;
  }
}

export function shown(value: Value | undefined): string {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'bigint') {
    return String(value);
  }
  if (typeof value === 'number') return `${doubleText(value)}d`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Uint8Array) return `b"${Buffer.from(value).toString('hex')}"`;
  if (value instanceof Timestamp) {
    return `timestamp(${new Date(Number(value.nanoseconds / 1_000_000n)).toISOString().replace('.000', '')})`;
  }
  if (value instanceof Duration) return `duration(${value.nanoseconds})`;
  if (value instanceof Optional) return value.value === undefined ? 'optional.none' : `optional(${shown(value.value)})`;
  if (value instanceof TypeValue) return `type(${value.name})`;
  if (value instanceof Failure) return `! ${value.message}`;
  switch (value.kind) {
    case 'list':
      return `[${Array.from({ length: value.size }, (_, at) => shown(value.at(at))).join(', ')}]`;
    case 'map':
      return `{${Array.from(value.keys(), (key) => `${shown(key)}: ${shown(value.get(key))}`)
        .sort()
        .join(', ')}}`;
    case 'opaque':
      return `${value.name}${within(value)}`;
    default:
      return value.name;
  }
}

function within(value: object): string {
  if ('quantity' in value) return `(${quantityText(value.quantity as Parameters<typeof quantityText>[0])})`;
  if ('bytes' in value) {
    return `(${ipText(value.bytes as Buffer)}${'bits' in value ? `/${value.bits}` : ''})`;
  }
  return '';
}
