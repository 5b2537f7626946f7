import { parseGoRequestUrl } from '../../api/go-url.js';
import { labelValue, nameRules, qualifiedName } from '../../api/names.js';
import { stringFormat } from '../../api/string-formats.js';
import { listFrom } from '../collections.js';
import { perByte, perPatternByte } from '../cost.js';
import type { Library } from '../functions.js';
import { scaled } from '../ranges.js';
import { listOf, opaque, optionalOf, string } from '../types.js';
import { type OpaqueValue, Optional, type Value } from '../values.js';
import { sizeEstimate, sizeOf, traversal } from './call-costs.js';
import { type Costs, global, member } from './declarations.js';

/** Named formats of texts: Kubernetes' `format` library. */

const formatType = opaque('kubernetes.NamedFormat');

interface FormatValue extends OpaqueValue {
  readonly format: string;
  readonly check: (text: string) => readonly string[];
  /** The size of the format's pattern that Kubernetes assumes for costs. */
  readonly patternSize: number;
}

function form(format: string, patternSize: number, check: FormatValue['check']): FormatValue {
  return {
    kind: 'opaque',
    name: 'kubernetes.NamedFormat',
    format,
    check,
    patternSize,
    equals: (other) => 'format' in other && (other as FormatValue).format === format,
  };
}

/** Returns the check of a schema format with the message for texts that do not match. */
function formatCheck(name: string, complaint: string): FormatValue['check'] {
  const test = stringFormat(name);
  return (text) => (test?.(text) === false ? [complaint] : []);
}

function uriProblems(text: string): readonly string[] {
  const url = parseGoRequestUrl(text);
  return 'wrong' in url ? [url.wrong] : [];
}

const wholeName = { prefix: false };
const beginning = { prefix: true };

const formats: ReadonlyMap<string, FormatValue> = new Map([
  ['dns1123Label', form('DNS1123Label', 30, (text) => nameRules.dnsLabel(text, wholeName))],
  ['dns1123Subdomain', form('DNS1123Subdomain', 60, (text) => nameRules.dnsSubdomain(text, wholeName))],
  ['dns1035Label', form('DNS1035Label', 30, (text) => nameRules.dns1035Label(text, wholeName))],
  ['qualifiedName', form('QualifiedName', 60, qualifiedName)],
  ['dns1123LabelPrefix', form('DNS1123LabelPrefix', 30, (text) => nameRules.dnsLabel(text, beginning))],
  ['dns1123SubdomainPrefix', form('DNS1123SubdomainPrefix', 60, (text) => nameRules.dnsSubdomain(text, beginning))],
  ['dns1035LabelPrefix', form('DNS1035LabelPrefix', 30, (text) => nameRules.dns1035Label(text, beginning))],
  ['labelValue', form('LabelValue', 40, labelValue)],
  ['uri', form('URI', 1_103, uriProblems)],
  ['uuid', form('uuid', 70, formatCheck('uuid', 'does not match the UUID format'))],
  ['byte', form('byte', 84, formatCheck('byte', 'invalid base64'))],
  ['date', form('date', 71, formatCheck('date', 'invalid date'))],
  ['datetime', form('datetime', 71, formatCheck('datetime', 'invalid datetime'))],
]);

function named(name: string): Optional {
  return new Optional(formats.get(name));
}

/** Validates a text; returns an optional without a value if the text has the format. */
function validate({ check }: FormatValue, text: string): Optional {
  const problems = check(text);
  return problems.length === 0 ? new Optional() : new Optional(listFrom(problems));
}

const longestPattern = 128;

const isFormat = (value: Value | undefined): value is FormatValue =>
  typeof value === 'object' && value !== null && 'patternSize' in value;

/** The costs of `validate`; a call on a value that is no format costs one unit. */
const validating: Costs = {
  cost: ([format, text]) =>
    isFormat(format) ? traversal(1 + sizeOf(text)) * Math.ceil(format.patternSize * perPatternByte) : 1,
  estimate: (_, [text]) => ({
    cost: scaled(scaled(sizeEstimate(text), perByte), longestPattern * perPatternByte),
  }),
};

export const namedFormats: Library = {
  functions: [
    {
      name: 'validate',
      overloads: [member('format-validate', [formatType, string], optionalOf(listOf(string)), validate, validating)],
    },
    { name: 'format.named', overloads: [global('format-named', [string], optionalOf(formatType), named)] },
    ...Array.from(formats, ([name, value]) => ({
      name: `format.${name}`,
      overloads: [global(`format.${name}`, [], formatType, () => value)],
    })),
  ],
};
