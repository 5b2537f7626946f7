import type { JsonObject } from '../../api/object.js';
import { itemsPerStep, type Steps } from '../../api/steps.js';
import { sortedNames } from '../../api/text-order.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';

/**
 * Documents are composed of parts: what a definition contributes is written once, for all documents that contain it, so
 * that the cost of changing a definition does not grow with their number.
 */

/** The contribution of one definition in its written form, by name. */
export interface DocumentPart {
  readonly paths: ReadonlyMap<string, Buffer>;
  readonly schemas: ReadonlyMap<string, Buffer>;
}

/** The format in which a document is written. */
export interface DocumentFormat {
  /** Returns what a definition contributes, before it is written. */
  describe(definition: ResourceDefinition): { readonly paths: JsonObject; readonly schemas: JsonObject };
  /** Writes a member of the paths or of the schemas. */
  member(of: keyof DocumentPart, name: string, value: JsonObject): Buffer;
}

/** The parts of documents in one format. A part is released together with its definition. */
export class DocumentParts {
  readonly #form: DocumentFormat;
  readonly #known = new WeakMap<ResourceDefinition, DocumentPart>();

  constructor(form: DocumentFormat) {
    this.#form = form;
  }

  /** Returns the part of each definition, in their order; takes a step for each. */
  *of(definitions: readonly ResourceDefinition[], shared: Map<string, Buffer>): Steps<readonly DocumentPart[]> {
    const parts: DocumentPart[] = [];
    for (const definition of definitions) {
      const part = this.#known.get(definition) ?? this.#write(definition, shared);
      this.#known.set(definition, part);
      for (const [name, bytes] of part.schemas) if (!shared.has(name)) shared.set(name, bytes);
      parts.push(part);
      yield;
    }
    return parts;
  }

  /** Schemas that all kinds have, such as that of metadata, are kept once. */
  #write(definition: ResourceDefinition, shared: ReadonlyMap<string, Buffer>): DocumentPart {
    const { paths, schemas } = this.#form.describe(definition);
    const written = (of: keyof DocumentPart, members: JsonObject): [string, Buffer][] =>
      Object.entries(members).map(([name, value]) => [name, this.#form.member(of, name, value as JsonObject)]);
    const interned = ([name, bytes]: [string, Buffer]): [string, Buffer] => {
      const known = shared.get(name);
      return [name, known?.equals(bytes) ? known : bytes];
    };
    return { paths: new Map(written('paths', paths)), schemas: new Map(written('schemas', schemas).map(interned)) };
  }
}

/** Returns all members in the order of their names. The first of several with the same name wins. */
export function* membersOf(parts: readonly DocumentPart[], of: keyof DocumentPart): Steps<readonly Buffer[]> {
  const found = new Map<string, Buffer>();
  let seen = 0;
  for (const part of parts) {
    for (const [name, bytes] of part[of]) if (!found.has(name)) found.set(name, bytes);
    seen += part[of].size;
    if (seen < itemsPerStep) continue;
    seen = 0;
    yield;
  }
  const names = sortedNames(found);
  yield;
  return names.map((name) => found.get(name) as Buffer);
}
