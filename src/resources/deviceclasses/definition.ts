import { isDeepStrictEqual } from 'node:util';
import { defaultDomains } from '../../api/domains.js';
import { goLowerCase, stringify } from '../../api/go-text.js';
import {
  type DeviceClass,
  type DeviceClassConfiguration,
  DeviceClasses,
  type DeviceSelector,
  type OpaqueDeviceConfiguration,
} from '../../api/kinds/device-class.js';
import { dnsSubdomain, nameRules, qualifiedName } from '../../api/names.js';
import type { Steps } from '../../api/steps.js';
import {
  child,
  eachInvalid,
  type Findings,
  forbiddenField,
  index,
  invalid,
  invalidExpression,
  required,
  tooLong,
  tooMany,
  type Violation,
  validateEachInSteps,
} from '../../api/violations.js';
import { checkSelector } from '../../cel/environments/device.js';
import { defineResource, type ResourceDefinition } from '../../registry/resource-definition.js';
import { anyJson, embedded, field, list, optional, string, structsOf } from '../../schema/builder.js';
import { objectMembers } from '../../schema/meta.js';
import { age } from '../columns.js';
import { hasNewSpec } from '../new-spec.js';

const struct = structsOf('io.k8s.api.resource.v1');

const deviceSelector = struct(
  'DeviceSelector',
  {
    cel: optional(
      1,
      struct(
        'CELDeviceSelector',
        {
          expression: field(1, string(), {
            presence: 'always',
            description: 'CEL expression over the variable `device`; true for devices that are selected.',
          }),
        },
        {
          required: ['expression'],
          description: 'CEL expression that selects devices.',
        },
      ),
      { description: 'CEL expression that selects devices.' },
    ),
  },
  { description: 'Selector of devices.' },
);

const opaqueDeviceConfiguration = struct(
  'OpaqueDeviceConfiguration',
  {
    driver: field(1, string(), { presence: 'always', description: 'Name of the driver that the parameters are for.' }),
    parameters: field(2, anyJson(), {
      presence: 'always',
      description: 'JSON object whose contents only the driver interprets.',
    }),
  },
  {
    required: ['driver', 'parameters'],
    description: 'Parameters in a format that is specific to one driver.',
  },
);

const deviceClassConfiguration = struct(
  'DeviceClassConfiguration',
  embedded(1, 'DeviceConfiguration', {
    opaque: optional(1, opaqueDeviceConfiguration, {
      description: 'Parameters in a format that is specific to one driver.',
    }),
  }),
  { description: 'Configuration that applies to all devices of a class.' },
);

const deviceClassSchema = struct(
  'DeviceClass',
  {
    ...objectMembers,
    spec: field(
      2,
      struct(
        'DeviceClassSpec',
        {
          selectors: field(1, list(deviceSelector, { listType: 'atomic' }), {
            description: 'Selectors that a device of the class must all match.',
          }),
          config: field(2, list(deviceClassConfiguration, { listType: 'atomic' }), {
            description: 'Configuration that is passed to the driver with each device of the class.',
          }),
          extendedResourceName: optional(4, string(), {
            description: 'Extended resource whose requests can be satisfied with devices of the class.',
          }),
        },
        { description: 'Devices that belong to a class, and their configuration.' },
      ),
      { description: 'Devices that belong to the class, and their configuration.' },
    ),
  },
  { required: ['spec'], description: 'Class of devices that claims can request.' },
);

const maxItems = 32;
const maxExpressionCost = 1_000_000;
const maxExpressionBytes = 10 * 1024;
const maxParametersBytes = 10 * 1024;
const maxDriverBytes = 63;

/** Validates each item. If there are too many, only that is reported. */
function* validateItems<I>(
  items: readonly I[] | undefined,
  path: string,
  validate: (item: I, path: string) => Findings,
): Steps<readonly Violation[]> {
  const all = items ?? [];
  if (all.length > maxItems) return [tooMany(path, all.length, maxItems)];
  return yield* validateEachInSteps(all, (item, at) => validate(item, index(path, at)));
}

function* validateSelector({ cel }: DeviceSelector, path: string): Steps<readonly Violation[]> {
  const at = child(path, 'cel');
  if (cel === undefined || cel === null) return [required(at)];
  const expressionAt = child(at, 'expression');
  const { expression = '' } = cel;
  if (Buffer.byteLength(expression) > maxExpressionBytes) return [tooLong(expressionAt, maxExpressionBytes)];
  const checked = yield* checkSelector(expression);
  if ('wrong' in checked) return [invalidExpression(expressionAt, expression, checked)];
  return checked.cost > maxExpressionCost ? [forbiddenField(expressionAt, 'too complex, exceeds cost limit')] : [];
}

function validateConfiguration(
  { opaque }: DeviceClassConfiguration,
  path: string,
  stored: boolean,
): readonly Violation[] {
  const at = child(path, 'opaque');
  if (opaque === undefined || opaque === null) return [required(at)];
  return [
    ...validateDriver(opaque.driver ?? '', child(at, 'driver')),
    ...validateParameters(opaque.parameters, child(at, 'parameters'), stored),
  ];
}

function validateDriver(driver: string, path: string): readonly Violation[] {
  if (driver === '') return [required(path)];
  return [
    ...(Buffer.byteLength(driver) > maxDriverBytes ? [tooLong(path, maxDriverBytes)] : []),
    ...eachInvalid(path, driver, dnsSubdomain(goLowerCase(driver))),
  ];
}

function validateParameters(
  parameters: OpaqueDeviceConfiguration['parameters'],
  path: string,
  stored: boolean,
): readonly Violation[] {
  if (parameters === undefined || parameters === null) return [required(path)];
  if (!stored && Buffer.byteLength(stringify(parameters) ?? '') > maxParametersBytes) {
    return [tooLong(path, maxParametersBytes)];
  }
  return typeof parameters === 'object' && !Array.isArray(parameters)
    ? []
    : [invalid(path, '<value omitted>', 'must be a valid JSON object')];
}

const quotaPrefix = 'requests.';

function validateExtendedResourceName(name: string | null | undefined, path: string): readonly Violation[] {
  if (name === undefined || name === null) return [];
  const extended =
    name.includes('/') &&
    !name.includes(`${defaultDomains.signer}/`) &&
    !name.startsWith(quotaPrefix) &&
    qualifiedName(quotaPrefix + name).length === 0;
  return extended ? [] : [invalid(path, name, 'must be a valid extended resource name')];
}

export const deviceClasses: ResourceDefinition<DeviceClass> = defineResource<DeviceClass>({
  ...DeviceClasses,
  origin: 'built-in',
  schema: deviceClassSchema,
  nameRule: nameRules.longName,
  updateRules: ['metadata', 'metadata change', 'contents'],
  unconditionalUpdate: true,
  returnsDeleted: true,
  columns: [age],
  newGeneration: hasNewSpec,
  *validate({ spec }, previous) {
    // The size limit does not apply to unchanged configurations: they were measured when they were stored.
    const stored = previous !== undefined && isDeepStrictEqual(spec?.config ?? [], previous.spec?.config ?? []);
    return [
      ...(yield* validateItems(spec?.selectors, 'spec.selectors', validateSelector)),
      ...(yield* validateItems(spec?.config, 'spec.config', (one, path) => validateConfiguration(one, path, stored))),
      ...validateExtendedResourceName(spec?.extendedResourceName, 'spec.extendedResourceName'),
    ];
  },
});
