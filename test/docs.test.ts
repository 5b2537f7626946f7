import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type BuiltinControllerOptions, builtinControllers } from '../controllers/index.js';
import { codes } from '../src/api/errors.js';
import { readConfiguration } from '../src/cli/configuration.js';
import { defaults } from '../src/cli/configuration-options.js';
import { configuration } from '../src/cli/configuration-schema.js';
import { rotationPolicy } from '../src/pki/ca-rotation.js';
import type { Signer } from '../src/pki/signer.js';
import { controllerNames } from '../src/server/controller-names.js';

/** The pages agree with the code. */

const root = resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const filesBelow = (folder: string, end: string): readonly string[] =>
  (readdirSync(join(root, folder), { recursive: true }) as string[])
    .filter((file) => file.endsWith(end))
    .map((file) => join(folder, file));
const pages = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...filesBelow('docs', '.md'),
  ...filesBelow('examples', '.md'),
];

/**
 * Returns the rows of the table with the first heading `head`; cells are without backticks, and `\|` stands for a bar.
 */
function tableOf(page: string, head: string): readonly (readonly string[])[] {
  const lines = read(page).split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
}

test('the error page lists every reason with its code', () => {
  const told = tableOf('docs/errors.md', 'reason').map(([reason = '', code]) => [reason, Number(code)]);
  expect(Object.fromEntries(told)).toEqual(codes);
  expect(told).toHaveLength(Object.keys(codes).length);
});

describe('options', () => {
  /** Returns names with their parts, such as `serviceAccounts.issuers`, and the value of each. */
  const flat = (options: object, above = ''): readonly (readonly [string, unknown])[] =>
    Object.entries(options).flatMap(([name, value]): readonly (readonly [string, unknown])[] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? flat(value, `${above}${name}.`)
        : [[`${above}${name}`, value]],
    );

  /** Returns the names in the schema that checks files. */
  const namesIn = (shape: object, above = ''): readonly string[] =>
    Object.entries(shape).flatMap(([name, option]) => {
      const inner: object = option.def.innerType ?? option;
      return 'shape' in inner ? namesIn(inner.shape as object, `${above}${name}.`) : [`${above}${name}`];
    });
  const accepted = namesIn(configuration.shape);

  const page = tableOf('docs/options.md', 'option');
  const sample = read('config/server.yaml');

  test('are all on their page, with their defaults', () => {
    expect(page.map(([name]) => name)).toEqual(accepted);
    const told = page.filter(([, value]) => value !== 'none').map(([name, value]) => [name, JSON.parse(value ?? '')]);
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(flat(defaults)));
  });

  test('are all in the sample file, those without a default as comments', () => {
    const whole = sample.replace(/^(\s*)# ((?: {2})?\w+: \S+|\w+:)$/gm, '$1$2');
    expect(new Set(flat(parse(whole)).map(([name]) => name))).toEqual(new Set(accepted));
  });

  test('in the sample file are the defaults', async () => {
    expect(await readConfiguration(join(root, 'config/server.yaml'), {})).toEqual(
      await readConfiguration(undefined, {}),
    );
  });

  test('of createServer are all on the embedding page, and every option it names exists', () => {
    const rows = tableOf('docs/embedding.md', 'option of `createServer`');
    const declared = read('src/server/options.ts').match(/interface ServerOptions \{\n([\s\S]*?)^\}/m)?.[1] ?? '';
    expect(rows.map(([name]) => name)).toEqual(
      [...declared.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name),
    );
    const inFile = rows.flatMap(([, , told = '']) =>
      [...`\`${told}\``.matchAll(/`([a-zA-Z.]+)`/g)].map(([, name]) => name ?? ''),
    );
    const known = (name: string): boolean => accepted.some((one) => one === name || one.startsWith(`${name}.`));
    expect(inFile.filter((name) => !known(name))).toEqual([]);
  });

  test('are there for controllers: every one is in the table, with whether it needs the server', () => {
    const signer: Signer = {
      serves: 'example.com/x',
      sign: () => Promise.reject(new Error()),
      signPod: () => Promise.reject(new Error()),
      trustAnchors: async () => '',
    };
    const configured: BuiltinControllerOptions = {
      signers: [signer],
      rootCa: () => '',
      certificatePolicy: { policy: { mode: 'enforce', default: 'leave', rules: [] } },
      rotatedCas: [
        {
          secret: { namespace: 'n', name: 'x' },
          signers: [],
          policy: rotationPolicy({ maxSeconds: 600 }),
          distributed: [],
        },
      ],
      trust: { bundles: [] },
    };
    const namesOf = (options: BuiltinControllerOptions) => new Set(builtinControllers(options).map(({ name }) => name));
    const table = tableOf('docs/options.md', 'controller');
    expect(table.map(([name]) => name)).toEqual(controllerNames);
    expect(new Set(table.map(([name]) => name))).toEqual(
      namesOf({ ...configured, mintToken: async () => '', checkPolicy: async () => [] }),
    );
    expect(new Set(table.flatMap(([name, , inProgram]) => (inProgram === 'yes' ? [name] : [])))).toEqual(
      namesOf(configured),
    );
  });

  test('on the command line are all on their page', () => {
    const flags = new Set([...read('src/cli/command-line.ts').matchAll(/'(--[a-z-]+) </g)].map(([, flag]) => flag));
    const told = new Set([...read('docs/options.md').matchAll(/`(--[a-z-]+) /g)].map(([, flag]) => flag));
    expect(told).toEqual(flags);
  });
});

test('links lead to existing files', () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [file = '', anchor] = target.split('#');
        const path = file === '' ? page : relative(root, resolve(root, dirname(page), file));
        if (!existsSync(join(root, path))) return true;
        return anchor !== undefined && !anchorsOf(path).includes(anchor);
      })
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

const anchorsOf = (page: string): readonly string[] =>
  [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  );

test('paths named in pages exist, except those that a page tells the reader to create', () => {
  const toMake = pages.flatMap((page) => blocksOf(page).map(({ path }) => path));
  const places = /`((?:src|controllers|config|docs|test|examples|bench)\/[\w./-]+)`/g;
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(places)]
      .map(([, path = '']) => path)
      .filter(
        (path) =>
          !existsSync(join(root, path)) && !toMake.includes(path.replace(/^test\/(.*)\.test\.ts$/, 'src/$1.ts')),
      )
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test('the architecture page lists every folder of src', () => {
  const told = tableOf('ARCHITECTURE.md', 'folder').map(([folder]) => folder);
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}`);
  expect(folders.filter((folder) => !told.includes(folder))).toEqual([]);
  expect(told.filter((folder) => !existsSync(join(root, folder ?? '')))).toEqual([]);
});

interface Block {
  readonly page: string;
  /** The path in the block's first line. */
  readonly path: string;
  readonly code: string;
}

function blocksOf(page: string): readonly Block[] {
  return [...read(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text = '']) => {
    const [head = '', ...lines] = text.split('\n');
    return { page, path: head.replace(/^\/\/ /, ''), code: lines.join('\n').trim() };
  });
}

/** Replaces import paths in a file by the files they refer to. */
const resolved = (code: string, file: string, base: string): string =>
  code.replace(/'(\.[^']*)'/g, (_, target: string) => {
    const path = join(dirname(file), target);
    return `'/${path.startsWith(`${base}/`) ? path.slice(base.length + 1) : path}'`;
  });

test('code blocks are copies of files that are type-checked', () => {
  const base = 'test/docs';
  const wrong = pages.flatMap(blocksOf).filter(({ path, code }) => {
    const file = [path, join(base, path)].find((each) => existsSync(join(root, each)));
    return file === undefined || resolved(code, path, base) !== resolved(read(file).trim(), file, base);
  });
  expect(wrong.map(({ page, path }) => `${page}: ${path}`)).toEqual([]);
});

test('every public export has a docstring', () => {
  const lists = /^export (?:type )?\{([^}]*)\} from '(\.[^']+)';/gm;
  const passedOn = (file: string) =>
    [...read(file).matchAll(lists)].flatMap(([, list = '', from = '']) =>
      [...list.matchAll(/(\w+)(?: as \w+)?(?=\s*(?:,|$))/g)].map(([, name = '']) => ({
        name,
        file: join(dirname(file), from.replace(/\.js$/, '.ts')),
      })),
    );
  const isTold = ({ file, name }: { readonly file: string; readonly name: string }): boolean => {
    const declared = new RegExp(`^export (?:async )?(?:const|function\\*?|interface|type|class) ${name}\\b`, 'm');
    const at = read(file).search(declared);
    if (at >= 0) return read(file).slice(0, at).endsWith('*/\n');
    const further = passedOn(file).find((one) => one.name === name);
    // Exports of packages are documented there.
    return further === undefined || isTold(further);
  };
  const exported = ['src/index.ts', 'src/testing/index.ts', 'controllers/index.ts'].flatMap(passedOn);
  expect(exported.length).toBeGreaterThan(500);
  expect(exported.filter((one) => !isTold(one))).toEqual([]);
});
