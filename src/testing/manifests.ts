import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../api/message-of.js';
import { isList, isObject, type Json, type JsonObject, type Unstructured } from '../api/object.js';

const origins = new WeakMap<object, string>();

/** Returns the file and document that an object was read from; undefined if it was made in another way. */
export const originOf = (object: object): string | undefined => origins.get(object);

/**
 * Reads the objects in YAML or JSON files, in order. A file may have several documents, and a list is replaced by its
 * items. For a folder, reads its files that end in `.yaml`, `.yml` or `.json`, by name, except `kustomization.yaml`;
 * subfolders are ignored. YAML is read as kubectl reads it. Fails with an Error that names file and document, also if
 * there is nothing to read.
 */
export async function readManifests(...paths: readonly (string | URL)[]): Promise<readonly Unstructured[]> {
  const objects: Unstructured[] = [];
  for (const path of paths) {
    const place = path instanceof URL ? fileURLToPath(path) : path;
    const found = (await stat(place)).isDirectory() ? await inFolder(place) : await inFile(place);
    if (found.length === 0) throw new Error(`${place}: contains no object`);
    objects.push(...found);
  }
  return objects;
}

const isManifest = (name: string): boolean => /\.(?:ya?ml|json)$/.test(name) && !/^kustomization\.ya?ml$/.test(name);

async function inFolder(folder: string): Promise<readonly Unstructured[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory() && isManifest(entry.name)).map(({ name }) => name);
  const objects: Unstructured[] = [];
  for (const file of files.sort()) objects.push(...(await inFile(join(folder, file))));
  return objects;
}

async function inFile(file: string): Promise<readonly Unstructured[]> {
  const { readStrictYaml } = await import('../api/yaml.js');
  const objects: Unstructured[] = [];
  for (const [at, text] of documentsIn(await readFile(file, 'utf8')).entries()) {
    const origin = `${file}, document ${at + 1}`;
    const value = await readStrictYaml(text).catch((cause: unknown) => {
      throw new Error(`${origin}: ${messageOf(cause)}`, { cause });
    });
    objects.push(...objectsIn(value, origin));
  }
  return objects;
}

/** Matches a separator as kubectl does: a comment may follow. */
const separator = /^---\s*(?:#.*)?$/;
const saysNothing = /^\s*(?:#.*)?$/;

/**
 * Returns the documents with any content, each preceded by as many line breaks as in the file, so that errors have its
 * line numbers.
 */
function documentsIn(text: string): readonly string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const starts = [-1, ...lines.flatMap((line, at) => (separator.test(line) ? [at] : []))];
  return starts.flatMap((start, at) => {
    const document = lines.slice(start + 1, starts[at + 1]);
    return document.every((line) => saysNothing.test(line)) ? [] : ['\n'.repeat(start + 1) + document.join('\n')];
  });
}

function objectsIn(value: Json, origin: string): readonly Unstructured[] {
  if (!isObject(value)) throw new Error(`${origin}: is not an object`);
  for (const name of ['apiVersion', 'kind'])
    if (typeof value[name] !== 'string' || value[name] === '') throw new Error(`${origin}: has no ${name}`);
  const { apiVersion, kind, items } = value;
  if (isList(items)) {
    // Items of a ConfigMapList need not have `apiVersion` and `kind`.
    const usual: JsonObject =
      kind === 'List' ? {} : { apiVersion: String(apiVersion), kind: String(kind).replace(/List$/, '') };
    return items.flatMap((item, at) =>
      objectsIn(isObject(item) ? { ...usual, ...item } : item, `${origin}, item ${at + 1}`),
    );
  }
  if (!isObject(value['metadata'] ?? null)) throw new Error(`${origin}: has no metadata`);
  const object = value as unknown as Unstructured;
  origins.set(object, origin);
  return [object];
}
