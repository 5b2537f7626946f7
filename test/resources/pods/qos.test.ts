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
  ['nothing asked for', { containers: [{}, container({}, {})] }, 'BestEffort'],
  ['nothing scarce', { containers: [container({ gpu: '1' }, { gpu: '1' })] }, 'BestEffort'],
  ['nothing of it', { containers: [container({ cpu: '0' })] }, 'BestEffort'],
  ['something asked for', { containers: [container(undefined, { cpu: '1m' })] }, 'Burstable'],
  ['one of two without limits', { containers: [container(both, both), {}] }, 'Burstable'],
  ['no limit of memory', { containers: [container({ cpu: '1' }, { cpu: '1' })] }, 'Burstable'],
  ['less asked for than allowed', { containers: [container(both, { ...both, cpu: '500m' })] }, 'Burstable'],
  ['as much', { containers: [container(both, { cpu: '1000m', memory: '1073741824' })] }, 'Guaranteed'],
  [
    'as much, also first',
    { containers: [container(both, both)], initContainers: [container(both, both)] },
    'Guaranteed',
  ],
  ['first nothing', { containers: [container(both, both)], initContainers: [{}] }, 'Burstable'],
  ['for all together', { containers: [{}], resources: { limits: both, requests: both } }, 'Guaranteed'],
  ['what is no quantity', { containers: [container({ cpu: 'x' })] }, 'BestEffort'],
])('%s', (_, spec, quality) => {
  expect(qosClass(spec)).toBe(quality);
});
