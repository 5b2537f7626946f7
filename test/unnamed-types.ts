import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

interface Declared {
  readonly file: string;
  readonly name: string;
}

const passedOn = /^(?:import|export) (?:type )?\{([^}]*)\}(?: from '(\.[^']+)')?;/gm;
const declaration = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const) (\w+)/gm;
const statement = /^(?:export|declare|interface|type) /gm;
const comment = /\/\*[\s\S]*?\*\//g;

/**
 * Returns the package's types in the exported declarations of entry files (`.d.ts`) that the entry files do not export.
 */
export function unnamedTypes(entries: readonly string[]): readonly string[] {
  const texts = new Map<string, string>();
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(file, 'utf8').replace(comment, '');
    texts.set(file, text);
    return text;
  };
  const passing = (file: string): readonly (Declared & { readonly from: string })[] =>
    [...textOf(file).matchAll(passedOn)].flatMap(([, list = '', from = '']) =>
      [...list.matchAll(/\w+(?=\s*(?:,|$))/g)].map(([name]) => ({ file, name, from })),
    );
  const declarations = (file: string): readonly Declared[] =>
    [...textOf(file).matchAll(declaration)].map(([, name = '']) => ({ file, name }));
  /** Returns where a name in a file is declared. */
  const origin = ({ file, name }: Declared): Declared => {
    const from = passing(file).find((one) => one.name === name)?.from ?? '';
    const next = resolve(dirname(file), from.replace(/\.js$/, '.d.ts'));
    return from !== '' && existsSync(next) ? origin({ file: next, name }) : { file, name };
  };
  const idOf = ({ file, name }: Declared): string => `${name} (${file})`;
  const exported = entries.flatMap((entry) => [...passing(entry), ...declarations(entry)].map(origin));
  const named = new Set(exported.map(idOf));
  const missing = exported.flatMap(({ file, name }) => {
    const known = new Set([...passing(file), ...declarations(file)].map((one) => one.name));
    const [, ...parts] = textOf(file).split(statement);
    const own = parts.filter((part) =>
      new RegExp(`^(?:declare |abstract |interface |type |class |function |const )*${name}\\b`).test(part),
    );
    return own
      .flatMap((part) => [...part.matchAll(/\b[A-Z]\w*/g)].map(([used]) => used))
      .filter((used) => known.has(used) && !named.has(idOf(origin({ file, name: used }))))
      .map((used) => `${name} has a ${used}`);
  });
  return [...new Set(missing)];
}
