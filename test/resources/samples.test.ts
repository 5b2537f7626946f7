import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { builtinDefinitions } from '../../src/resources/index.js';
import { write } from './write.js';

const folder = join(import.meta.dirname, '../../config/samples');
const documents = readdirSync(folder).flatMap((file) =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8'), { version: '1.1' }).map((document) => ({
    file,
    object: document.toJS() as { readonly apiVersion: string; readonly kind: string },
  })),
);

test('the samples are a request, a definition, a bundle, a role and its binding', () => {
  expect(documents.map(({ object }) => object.kind).sort()).toEqual([
    'CertificateSigningRequest',
    'ClusterRole',
    'ClusterRoleBinding',
    'ClusterTrustBundle',
    'CustomResourceDefinition',
  ]);
});

const known = new Map(builtinDefinitions().map((definition) => [definition.kind, definition]));

test.each(documents.filter(({ object }) => known.has(object.kind)))('$object.kind of $file is valid', ({ object }) => {
  const definition = known.get(object.kind);
  expect(definition && write(definition, object).violations).toEqual([]);
});
