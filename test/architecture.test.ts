import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

/** The folders that each folder may import. Folders not named here only wire parts together and may import anything. */
const directions: Readonly<Record<string, readonly string[]>> = {
  'src/api': [],
  'src/runtime': [],
  'src/api/kinds': ['src/api'],
  'src/store': ['src/api', 'src/runtime'],
  'src/cel': ['src/api'],
  'src/schema': ['src/api', 'src/cel'],
  'src/apply': ['src/api', 'src/schema'],
  'src/pki': ['src/api', 'src/runtime'],
  'src/client': ['src/api', 'src/runtime', 'src/pki'],
  'src/registry': ['src/api', 'src/schema', 'src/store'],
  'src/auth': ['src/api', 'src/api/kinds', 'src/runtime', 'src/cel', 'src/pki', 'src/client'],
  'src/controller': ['src/api', 'src/api/kinds', 'src/runtime', 'src/pki', 'src/client'],
  'src/resources': ['src/api', 'src/api/kinds', 'src/registry', 'src/schema', 'src/cel', 'src/pki', 'src/auth'],
  'src/admission': [
    'src/api',
    'src/api/kinds',
    'src/runtime',
    'src/registry',
    'src/auth',
    'src/cel',
    'src/client',
    'src/pki',
  ],
  'src/apiserver': [
    'src/api',
    'src/api/kinds',
    'src/runtime',
    'src/store',
    'src/cel',
    'src/schema',
    'src/apply',
    'src/client',
    'src/registry',
    'src/auth',
    'src/resources',
    'src/admission',
  ],
  'src/http': ['src/api', 'src/runtime', 'src/schema', 'src/apiserver'],
  'src/webhook': ['src/api', 'src/runtime', 'src/controller', 'src/http'],
  controllers: ['src/api', 'src/api/kinds', 'src/runtime', 'src/client', 'src/controller', 'src/pki'],
};

/** The only places in which a package may be imported; `types` lists packages whose types may be imported anywhere. */
const confined: Readonly<Record<string, readonly string[]>> = {
  '@peculiar/x509': ['src/testing/second-opinion.ts', 'test/pki'],
  'reflect-metadata': ['src/testing/second-opinion.ts', 'test/pki'],
  '@kubernetes/client-node': ['src/client/kubeconfig-user.ts', 'test', 'examples'],
  rxjs: ['test'],
  'rxjs/internal/Observable': ['src/runtime/observable.ts'],
  'rxjs/internal/Subscription': ['src/runtime/observable.ts'],
  pino: ['src/runtime/pino-logger.ts'],
  'classic-level': ['src/store/level'],
  '@grpc/grpc-js': ['src/store/etcd', 'src/store/encryption/kms', 'test/store'],
  '@bufbuild/protobuf': ['src/store/etcd', 'src/store/encryption/kms', 'src/store/wire.ts', 'test/store'],
  '@noble/ciphers/salsa.js': ['src/store/encryption/secretbox.ts'],
  re2js: ['src/api/regular-expression.ts'],
  ws: ['src/http/web-socket.ts', 'test'],
  yaml: ['test', 'examples'],
  commander: ['src/main.ts', 'src/cli'],
  zod: ['src/main.ts', 'src/cli'],
  'prom-client': ['src/runtime/metrics.ts'],
  vitest: ['test', 'examples'],
  'fast-check': ['test'],
};

const root = resolve(import.meta.dirname, '..');
const sources = ['src', 'controllers', 'test', 'examples'].flatMap((folder) =>
  (readdirSync(join(root, folder), { recursive: true }) as string[])
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
);
const importLine = /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gms;
const folderOf = (file: string): string =>
  Object.keys(directions)
    .filter((folder) => file.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0] ?? dirname(file);

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
  readonly isDynamic: boolean;
}

function importsOf(file: string): readonly Import[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(importLine)].map(([, type, named, bare, dynamic]) => ({
    from: named ?? bare ?? dynamic ?? '',
    typeOnly: type !== undefined,
    isDynamic: dynamic !== undefined,
  }));
}

const fileOf = (file: string, from: string): string =>
  relative(root, resolve(root, dirname(file), from)).replace(/\.js$/, '.ts');

/** Returns this package's files that a file imports, as paths in the tree. */
const neighboursOf = (file: string): readonly string[] =>
  importsOf(file)
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from }) => fileOf(file, from));

test('folders import only from folders below them', () => {
  const wrong = sources.flatMap((file) => {
    const allowed = directions[folderOf(file)];
    if (allowed === undefined) return [];
    return neighboursOf(file)
      .map(folderOf)
      .filter((target) => target !== folderOf(file) && !allowed.includes(target))
      .map((target) => `${file} imports ${target}`);
  });
  expect([...new Set(wrong)]).toEqual([]);
});

test('the architecture page shows these directions', () => {
  const block = /^## Which folder may import which$[\s\S]*?^```\n([\s\S]*?)^```$/m.exec(
    readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
  );
  const folder = (name: string): string => Object.keys(directions).find((known) => known.endsWith(`/${name}`)) ?? name;
  const told = new Map<string, readonly string[]>();
  for (const row of (block?.[1] ?? '').trim().split('\n')) {
    const [, names = '', may = ''] = /^(.*?) {2,}(.*)$/.exec(row) ?? [];
    const [, but = ''] = /^everything above except (.*)$/.exec(may) ?? [];
    const without = but.split(' and ').map(folder);
    const listed = may === 'nothing of ours' ? [] : may.split(', ').map(folder);
    const allowed = but === '' ? listed : [...told.keys()].filter((one) => !without.includes(one));
    for (const name of names.split(', ')) told.set(name, allowed);
  }
  const sorted = (entries: Iterable<[string, readonly string[]]>) =>
    new Map([...entries].map(([name, allowed]) => [name, allowed.toSorted()]));
  expect(sorted(told)).toEqual(sorted(Object.entries(directions)));
});

test('there are no import cycles, not even of types', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
    if (done.has(file)) return;
    done.add(file);
    for (const next of neighboursOf(file)) if (sources.includes(next)) follow(next, [...way, file]);
  };
  for (const file of sources) follow(file, []);
  expect(circles).toEqual([]);
});

test('kedge controllers does not load the server', () => {
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { from, typeOnly, isDynamic } of importsOf(file))
      if (from.startsWith('.') && !typeOnly && !isDynamic) load(fileOf(file, from));
  };
  load('src/cli/controllers.ts');
  for (const file of ['src/embed.ts', 'src/server/core.ts']) expect(loaded).not.toContain(file);
});

test('controllers do not import each other', () => {
  const wrong = sources
    .filter((file) => file.startsWith('controllers/') && file !== 'controllers/index.ts')
    .flatMap((file) =>
      neighboursOf(file)
        .filter((target) => target.startsWith('controllers/') && dirname(target) !== dirname(file))
        .map((target) => `${file} imports ${target}`),
    );
  expect(wrong).toEqual([]);
});

test('packages are imported only by the files that wrap them', () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter(({ from, typeOnly }) => !typeOnly && confined[from] !== undefined)
      .filter(({ from }) => !confined[from]?.some((place) => file === place || file.startsWith(`${place}/`)))
      .map(({ from }) => `${file} imports ${from}`),
  );
  expect(wrong).toEqual([]);
});

test('strings that Go sorts are sorted by bytes, by one module', () => {
  const wrong = sources.filter(
    (file) =>
      /^src\/(api|apiserver|apply|registry|resources|schema)\//.test(file) &&
      file !== 'src/api/text-order.ts' &&
      /\.(sort|toSorted)\(\)/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(wrong).toEqual([]);
});

test('every log line calls its error `err`', () => {
  const wrong = sources.filter((file) =>
    /[lL]og\??\.(debug|info|warn|error)\(\s*\{[^}]*\berror\b\s*[,:}](?<!err: error\s*[,:}])/.test(
      readFileSync(join(root, file), 'utf8'),
    ),
  );
  expect(wrong).toEqual([]);
});

test('no listener is to be removed by a signal, which Node.js forgets in a garbage collection', () => {
  const wrong = sources.filter((file) =>
    /addEventListener\([^;]*\bsignal:/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(wrong).toEqual([]);
});

test('examples import each other with paths that Node.js resolves without a compiler', () => {
  const wrong = sources
    .filter((file) => file.startsWith('examples/'))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ from }) => from.startsWith('.') && !existsSync(join(root, dirname(file), from)))
        .map(({ from }) => `${file} imports ${from}`),
    );
  expect(wrong).toEqual([]);
});
