import type { Client } from '../client/client.js';
import type { ReconcileContext } from './controller.js';

const controllers = new WeakMap<Client, ReconcileContext>();

/** Registers the controller that a client of a single call belongs to. */
export const registerCallClient = (controller: ReconcileContext, client: Client): void =>
  void controllers.set(client, controller);

/**
 * Returns the context of the controller, given the context of a single call with a time limit; for what outlives the
 * call.
 */
export const controllerContext = <C extends Pick<ReconcileContext, 'client'>>(context: C): C | ReconcileContext =>
  controllers.get(context.client) ?? context;
