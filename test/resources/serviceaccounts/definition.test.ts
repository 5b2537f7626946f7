import { expect, test } from 'vitest';
import { serviceAccounts } from '../../../src/resources/serviceaccounts/definition.js';
import { write } from '../write.js';

const definition = serviceAccounts();

test('references to secrets keep only their names', () => {
  const body = {
    secrets: [{ name: 'a', kind: 'Secret', uid: 'u' }, { kind: 'Secret' }, { name: 'a' }],
    imagePullSecrets: [{ name: 'p' }, {}],
    automountServiceAccountToken: false,
  };
  const expected = {
    secrets: [{ name: 'a' }, {}, { name: 'a' }],
    imagePullSecrets: [{ name: 'p' }, {}],
    automountServiceAccountToken: false,
  };
  expect(write(definition, body).object).toMatchObject(expected);
  expect(write(definition, body, {}).object).toMatchObject(expected);
});

const name = 'kubernetes.io/enforce-mountable-secrets';
const annotated = (value: string) => ({ metadata: { name: 'x', annotations: { [name]: value } } });
const text = `metadata.annotations[${name}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;

test.each([
  ['create without', {}, undefined, []],
  ['create with', annotated('false'), undefined, [text]],
  ['create with an empty one', annotated(''), undefined, [text]],
  ['update that keeps it', annotated('true'), annotated('false'), []],
  ['update that adds it', annotated(''), {}, [text]],
  ['update that removes it', {}, annotated(''), []],
])('the deprecated annotation: %s', (_what, next, previous, warnings) => {
  expect(write(definition, next, previous).warnings).toEqual(warnings);
});
