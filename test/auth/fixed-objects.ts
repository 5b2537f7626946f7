import type { ApiObject, ObjectKey, ResourceType } from '../../src/api/object.js';
import type { ObjectSource } from '../../src/auth/object-source.js';

/** An object source of maps, which a test fills. */
export class FixedObjects implements ObjectSource {
  readonly #byType = new Map<string, Map<string, ApiObject>>();
  readonly #lists = new Map<string, readonly ApiObject[]>();

  async get<T extends ApiObject>(type: ResourceType<T>, key: ObjectKey): Promise<T | undefined> {
    return this.#of(type).get(`${key.namespace ?? ''}/${key.name}`) as T | undefined;
  }

  async hasAny(type: ResourceType): Promise<boolean> {
    return this.#of(type).size > 0;
  }

  async list<T extends ApiObject>(type: ResourceType<T>): Promise<readonly T[]> {
    const known = this.#lists.get(type.plural);
    const list = known ?? [...this.#of(type).values()];
    this.#lists.set(type.plural, list);
    return list as readonly T[];
  }

  put<T extends ApiObject>(type: ResourceType<T>, object: Partial<T> & Pick<T, 'metadata'>): this {
    const { namespace = '', name = '' } = object.metadata;
    const whole = { apiVersion: 'v1', kind: type.kind, ...object };
    this.#of(type).set(`${namespace}/${name}`, whole);
    this.#lists.delete(type.plural);
    return this;
  }

  remove(type: ResourceType, { namespace = '', name }: ObjectKey): this {
    this.#of(type).delete(`${namespace}/${name}`);
    this.#lists.delete(type.plural);
    return this;
  }

  #of(type: ResourceType): Map<string, ApiObject> {
    const known = this.#byType.get(type.plural) ?? new Map<string, ApiObject>();
    this.#byType.set(type.plural, known);
    return known;
  }
}
