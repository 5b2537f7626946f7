import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './process/build.js';
import { run, start, startServer, temporaryDirectory } from './process/program.js';
import { unnamedTypes } from './unnamed-types.js';

/**
 * The package as installed by a user. It is packed from its own build and unpacked where an installation would put it;
 * its dependencies are found in the checkout above, so nothing is downloaded.
 */

// Within the checkout, so that dependencies are found by walking up.
const place = join(root, 'node_modules', '.package-test');
mkdirSync(place, { recursive: true });
const project = mkdtempSync(join(place, 'project-'));
const installed = join(project, 'node_modules', 'kedge');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly bin: { readonly kedge: string };
  readonly exports: Readonly<Record<string, { readonly types?: string } | undefined>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};
let files: readonly string[] = [];

beforeAll(async () => {
  const source = join(project, 'source');
  const built = await run(process.execPath, [join(root, 'scripts/build.mjs'), '--out', join(source, 'dist')]);
  expect(built).toMatchObject({ code: 0, stderr: '' });
  // If the package is linked and not unpacked, as by npx in the checkout, nothing else makes the program executable.
  expect(statSync(join(source, manifest.bin.kedge)).mode & 0o100).toBe(0o100);
  const pages = readdirSync(root).filter((file) => file.endsWith('.md'));
  for (const file of ['package.json', 'LICENSE', 'config', 'docs', 'examples', ...pages]) {
    cpSync(join(root, file), join(source, file), { recursive: true });
  }
  const packed = await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--json', '--loglevel=error'], {
    cwd: source,
  });
  const [{ filename, files: listed }] = JSON.parse(packed.stdout) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  files = listed.map(({ path }) => path);
  mkdirSync(installed, { recursive: true });
  await promisify(execFile)('tar', ['-xzf', join(source, filename), '-C', installed, '--strip-components=1']);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
}, 600_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test('the package contains the expected kinds of files and no sources', () => {
  const kinds = new Set(
    files.map((file) =>
      file.replace(/^(dist|docs|examples)\/.*?(\.d\.ts|\.\w+)$/, (_, folder, end) => `${folder}/**${end}`),
    ),
  );
  expect([...kinds].sort()).toEqual([
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'config/prometheus-rules.yaml',
    'config/samples/certificate-signing-request.yaml',
    'config/samples/cluster-trust-bundle.yaml',
    'config/samples/custom-resource-definition.yaml',
    'config/samples/signer-role.yaml',
    'config/server.yaml',
    'dist/**.d.ts',
    'dist/**.js',
    'docs/**.md',
    'examples/**.md',
    'examples/**.py',
    'examples/**.ts',
    'examples/**.yaml',
    'examples/envtest/assets/etcd',
    'examples/envtest/assets/kube-apiserver',
    'package.json',
  ]);
});

test('the package has no install scripts, of which npm would warn', () => {
  const { scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { readonly scripts: object };
  const run = ['preinstall', 'install', 'postinstall', 'prepare'].filter((name) => name in scripts);
  expect(run).toEqual([]);
});

test("links in the package's pages lead to files in the package", () => {
  const pages = files.filter((file) => file.endsWith('.md'));
  const broken = pages.flatMap((page) =>
    [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(installed, dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );
  expect(pages).toContain('README.md');
  expect(broken).toEqual([]);
});

const program = `
import { CertificateSigningRequests, createServer, defineController, hasCondition, type Server } from 'kedge';
import { builtinControllers, garbageCollector, type PolicyRule } from 'kedge/controllers';
import { testServer, until } from 'kedge/testing';

const cleaner = defineController({
  name: 'denied-request-cleaner',
  for: CertificateSigningRequests,
  when: (csr) => hasCondition(csr, 'Denied'),
  async reconcile(csr, { client, clock }) {
    if (clock.now() < 0) return { requeueAfterMs: 1 };
    await client.resource(CertificateSigningRequests).delete({ name: csr.metadata.name ?? '' });
  },
});
const server: Server = await createServer();
await server.stop();
const { client, certificates, stop } = await testServer({ runnables: [cleaner] });
const requests = client.resource(CertificateSigningRequests);
const { metadata } = await requests.create(await certificates.signingRequest({ name: 'alice' }));
const status = { conditions: [{ type: 'Denied', status: 'True', reason: 'No' }] };
await requests.subresource('approval').patch({ name: 'alice' }, { type: 'merge', body: { status } });
await until(requests, { name: 'alice' }, (csr) => csr === undefined);
await stop();
const rule: PolicyRule = { name: 'ci', effect: 'approve', signers: ['example.com/ci'] };
console.log(metadata.name, builtinControllers().length > 5, garbageCollector().name, rule.name);
`;

test.each([
  { moduleResolution: 'nodenext', module: 'nodenext' },
  { moduleResolution: 'bundler', module: 'preserve' },
])("the package's types compile with $moduleResolution, declarations checked", async (options) => {
  const folder = join(project, options.moduleResolution);
  mkdirSync(folder);
  writeFileSync(join(folder, 'program.ts'), program);
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...options, target: 'es2023', lib: ['es2023'], strict: true, noEmit: true },
    }),
  );
  const compiled = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  expect(compiled).toMatchObject({ code: 0, stdout: '' });
});

test("every type in the package's exports can be imported by its name", () => {
  const entries = ['.', './testing', './controllers'].map((entry) => manifest.exports[entry]?.types ?? '');
  expect(unnamedTypes(entries.map((types) => join(installed, types)))).toEqual([]);
});

test('a program that imports the package runs', async () => {
  const script = join(project, 'program.js');
  writeFileSync(script, program.replaceAll(/, type (Server|PolicyRule)|: (Server|PolicyRule)/g, ''));
  expect(await run(process.execPath, [script])).toMatchObject({
    code: 0,
    stdout: 'alice true garbage-collector ci\n',
    stderr: '',
  });
});

test("the package's program serves", async () => {
  const bin = join(installed, manifest.bin.kedge);
  expect(readFileSync(bin, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
  const directory = temporaryDirectory();
  const kedge = start(process.execPath, [bin, 'serve', '--port', '0', '--data-dir', directory, '--log-format', 'json']);
  await kedge.logged(({ msg }) => msg === 'ready', 'the line "ready"');
  expect(await kedge.stop()).toMatchObject({ code: 0 });
});

const loading = [
  /^(?:import|export)\b[^"'\n]*["']([^"'\n]+)["'];$/gm,
  /\bimport\(["']([^"'\n]+)["']\)/g,
  /\bcreateRequire\(import\.meta\.url\)\(["']([^"'\n]+)["']\)/g,
];

test("the package's dependencies are the packages it loads", () => {
  const texts = files.filter((file) => file.endsWith('.js')).map((file) => readFileSync(join(installed, file), 'utf8'));
  const loaded = texts
    .flatMap((text) => loading.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name)))
    .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0]);
  // With `*`, an installation would use whatever version is the latest on that day.
  expect(Object.values(manifest.dependencies)).not.toContain('*');
  const said = { ...manifest.dependencies, ...manifest.peerDependencies };
  // Type packages are loaded by the compiler only.
  const packages = Object.keys(said).filter((name) => !name.startsWith('@types/'));
  expect([...new Set(loaded)].sort()).toEqual(packages.sort());
});

/** Returns a module that is loaded before the program under test, and records every later module. */
const witness = (record: string): string => `
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
const hooks = \`
  import { appendFileSync } from 'node:fs';
  export async function load(url, context, next) {
    appendFileSync(${JSON.stringify(record)}, url + '\\\\n');
    return next(url, context);
  }\`;
register('data:text/javascript,' + encodeURIComponent(hooks));
const { cache } = createRequire(import.meta.url);
process.on('exit', () => appendFileSync(${JSON.stringify(record)}, Object.keys(cache).join('\\n') + '\\n'));
`;

test('a starting server loads only what it needs', async () => {
  const directory = temporaryDirectory();
  const record = join(directory, 'loaded');
  const preload = join(directory, 'witness.mjs');
  writeFileSync(preload, witness(record));
  const server = await startServer(join(directory, 'data'), [], {
    env: { NODE_OPTIONS: `--import ${pathToFileURL(preload)}` },
  });
  expect(await server.stop()).toMatchObject({ code: 0 });
  const loaded = readFileSync(record, 'utf8').split('\n');
  const packages = new Set(
    loaded.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.slice(1) ?? []),
  );
  const own = ['classic-level', 'commander', 'pino', 'rxjs'];
  const theirs = [
    ...[
      'abstract-level',
      'level-supports',
      'level-transcoder',
      'maybe-combine-errors',
      'module-error',
      'node-gyp-build',
    ],
    ...['@pinojs/redact', 'atomic-sleep', 'on-exit-leak-free', 'pino-std-serializers', 'quick-format-unescaped'],
    ...['safe-stable-stringify', 'sonic-boom', 'thread-stream', 'real-require', 'tslib'],
  ];
  expect([...packages].filter((name) => !own.includes(name) && !theirs.includes(name))).toEqual([]);
  expect(own.filter((name) => !packages.has(name))).toEqual([]);
  const chunks = loaded.filter((path) => path.includes('/dist/'));
  expect(chunks.length).toBeGreaterThan(1);
  expect(chunks.length).toBeLessThan(readdirSync(join(root, 'dist/chunks')).length);
});
