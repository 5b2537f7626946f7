import type { Client } from '../client/client.js';
import type { ReconcileContext } from './controller.js';

const controllers = new WeakMap<Client, ReconcileContext>();

/** Notes whose client it is that ends with one call of a controller. */
export const registerCallClient = (controller: ReconcileContext, client: Client): void =>
  void controllers.set(client, controller);

/** Of one call of a controller with a time limit, that of the controller: for what outlasts the call. */
export const controllerContext = <C extends Pick<ReconcileContext, 'client'>>(context: C): C | ReconcileContext =>
  controllers.get(context.client) ?? context;
