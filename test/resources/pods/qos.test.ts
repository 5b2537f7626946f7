import { expect, test } from 'vitest';
import type { PodSpec } from '../../../src/api/kinds/pod.js';
import type { JsonObject } from '../../../src/api/object.js';
import { qosClass } from '../../../src/resources/pods/qos.js';

const container = (limits?: JsonObject, requests?: JsonObject) => ({
  resources: { ...(limits && { limits }), ...(requests && { requests }) },
});
const both = { cpu: '1', memory: '1Gi' };

test.each<readonly [string, PodSpec, string]>([
  ['no containers', { containers: null }, 'BestEffort'],
  ['no requests', { containers: [{}, container({}, {})] }, 'BestEffort'],
  ['only other resources', { containers: [container({ gpu: '1' }, { gpu: '1' })] }, 'BestEffort'],
  ['zero requests', { containers: [container({ cpu: '0' })] }, 'BestEffort'],
  ['a request', { containers: [container(undefined, { cpu: '1m' })] }, 'Burstable'],
  ['one of two containers without limits', { containers: [container(both, both), {}] }, 'Burstable'],
  ['no memory limit', { containers: [container({ cpu: '1' }, { cpu: '1' })] }, 'Burstable'],
  ['requests below limits', { containers: [container(both, { ...both, cpu: '500m' })] }, 'Burstable'],
  ['requests equal to limits', { containers: [container(both, { cpu: '1000m', memory: '1073741824' })] }, 'Guaranteed'],
  [
    'equal ones in an init container, too',
    { containers: [container(both, both)], initContainers: [container(both, both)] },
    'Guaranteed',
  ],
  ['an init container without any', { containers: [container(both, both)], initContainers: [{}] }, 'Burstable'],
  ['at the pod level', { containers: [{}], resources: { limits: both, requests: both } }, 'Guaranteed'],
  ['an invalid quantity', { containers: [container({ cpu: 'x' })] }, 'BestEffort'],
])('%s', (_, spec, quality) => {
  expect(qosClass(spec)).toBe(quality);
});
