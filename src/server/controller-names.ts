import { type BuiltinController, controllerAccounts } from '../auth/bootstrap/controller-roles.js';

export const controllerNames = Object.keys(controllerAccounts) as readonly BuiltinController[];

export const isControllerName = (name: string): name is BuiltinController =>
  controllerNames.some((one) => one === name);

/** Returns an error of one sentence if one of these names is not a controller; otherwise undefined. */
export function controllerNameProblem(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !isControllerName(name));
  if (wrong === undefined) return undefined;
  return `unknown controller ${JSON.stringify(wrong)}; known are ${controllerNames.join(', ')}`;
}
