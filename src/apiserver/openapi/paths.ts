import { type Operation, type QueryParameter, queryParameters } from './operations.js';

/** A path with its operations. */
export interface Path {
  readonly path: string;
  /** The parameters that all operations share: the names in braces, and common query parameters. Sorted by name. */
  readonly parameters: readonly Parameter[];
  /** The operations, each with the query parameters that not all of them share. */
  readonly operations: readonly Operation[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required?: true;
  readonly type: 'string' | 'boolean' | 'integer';
}

/** Groups operations by path, in the order in which the paths first occur. */
export function pathsOf(operations: readonly Operation[]): readonly Path[] {
  const found = new Map<string, Operation[]>();
  for (const operation of operations) {
    const known = found.get(operation.path);
    if (known === undefined) found.set(operation.path, [operation]);
    else known.push(operation);
  }
  return [...found].map(([path, ofPath]) => {
    const [first, ...others] = ofPath;
    const shared = (first?.query ?? []).filter((name) => others.every(({ query }) => query.includes(name)));
    return {
      path,
      parameters: [...pathParameters(path, first?.gvk.kind ?? ''), ...shared.map(queryParameter)].sort(byName),
      operations: ofPath.map((operation) => ({
        ...operation,
        query: operation.query.filter((name) => !shared.includes(name)),
      })),
    };
  });
}

const byName = (a: Parameter, b: Parameter): number => (a.name < b.name ? -1 : 1);

/** Returns the parameters in braces, and `pretty`. */
function pathParameters(path: string, kind: string): readonly Parameter[] {
  const describe: Readonly<Record<string, string>> = {
    name: `Name of the ${kind}.`,
    namespace: 'Namespace of the object.',
  };
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return [
    ...names.map(
      (name): Parameter => ({
        name,
        in: 'path',
        description: describe[name] ?? '',
        required: true,
        type: 'string',
      }),
    ),
    queryParameter('pretty'),
  ];
}

export const queryParameter = (name: QueryParameter): Parameter => ({ name, in: 'query', ...queryParameters[name] });
