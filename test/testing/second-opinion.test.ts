import { once } from 'node:events';
import { expect, test } from 'vitest';
import { secondOpinion } from '../../src/testing/second-opinion.js';

test('without the other library the second opinion is undefined, with a warning', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  const warned = once(process, 'warning');
  expect(await secondOpinion('', '', () => Promise.reject(missing))).toBeUndefined();
  expect(String((await warned)[0])).toContain('@peculiar/x509 and reflect-metadata are not installed');
  const broken = new Error('broken');
  await expect(secondOpinion('', '', () => Promise.reject(broken))).rejects.toBe(broken);
});
