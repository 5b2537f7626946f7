/**
 * The path to a value from a variable: `self`, `items`, `@items`. cel-go appends to paths in place while there is
 * capacity, so that a path may change when another one with the same prefix is made; estimates depend on that.
 */
export interface Path {
  readonly steps: string[];
  readonly length: number;
  readonly room: number;
}

export const emptyPath: Path = { steps: [], length: 0, room: 0 };

export function appended(path: Path, step: string): Path {
  if (path.length < path.room) {
    path.steps[path.length] = step;
    return { ...path, length: path.length + 1 };
  }
  const length = path.length + 1;
  return { steps: [...pathSteps(path), step], length, room: Math.max(1, path.room * 2) };
}

export const pathSteps = ({ steps, length }: Path): readonly string[] => steps.slice(0, length);
