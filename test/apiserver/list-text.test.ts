import { afterAll, beforeAll, expect, test } from 'vitest';
import { goJson } from '../../src/api/go-text.js';
import { readYaml } from '../../src/api/yaml.js';
import { type Served, serve } from './served.js';

/** Lists that are too large to be encoded in one step: the result is one list, and other work gets its turns. */

let it: Served;
const path = '/api/v1/namespaces/default/configmaps';
const count = 24;
beforeAll(async () => {
  it = await serve();
  const data = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, at) => [`key-${at}`, `items: []\n"rows": [] ${at}`]),
  );
  for (let at = 0; at < count; at++) {
    const name = `c${String(at).padStart(2, '0')}`;
    await it.ask('POST', path, { body: { metadata: { name, labels: { of: 'many' } }, data } });
  }
});
afterAll(() => it.stop());

const as = (kind: string): string => `;as=${kind};v=v1;g=meta.k8s.io`;
const parsed = async (type: string, text: string): Promise<unknown> =>
  type.startsWith('application/yaml') ? (await readYaml(text)).value : JSON.parse(text);

test.each([
  ['application/json', ''],
  ['application/json', '&limit=5'],
  ['application/json', '&pretty=true'],
  ['application/yaml', '&limit=5'],
  [`application/json${as('Table')}`, '&includeObject=Object'],
  [`application/json${as('Table')}`, '&includeObject=Object&pretty=1'],
  [`application/json${as('PartialObjectMetadataList')}`, '&pretty=1'],
  [`application/yaml${as('PartialObjectMetadataList')}`, '&limit=5'],
])('a long list is encoded in steps to the same text as at once: %s %s', async (accept, query) => {
  const type = accept.split(';', 1)[0] ?? '';
  const { text } = await it.ask('GET', `${path}?labelSelector=of%3Dmany${query}`, { headers: { accept } });
  const whole = (await parsed(type, text)) as {
    readonly items?: readonly unknown[];
    readonly rows?: readonly unknown[];
  };
  expect((whole.items ?? whole.rows)?.length).toBe(query === '&limit=5' ? 5 : count);
  // Encoded in one step, the text would be the same.
  if (type === 'application/json') expect(text.trimEnd()).toBe(goJson(whole, query.includes('pretty') ? 2 : undefined));
});
