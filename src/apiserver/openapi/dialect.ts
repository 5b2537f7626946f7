/** The differences between the two versions of OpenAPI. */
export interface Dialect {
  readonly version: 2 | 3;
  /** The prefix of references to schemas. */
  readonly schemas: '#/definitions/' | '#/components/schemas/';
}

export const v2: Dialect = { version: 2, schemas: '#/definitions/' };
export const v3: Dialect = { version: 3, schemas: '#/components/schemas/' };
