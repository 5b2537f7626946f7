import { type ApiError, errorFromStatus, isReason } from '../api/errors.js';
import { serviceAccountUsername } from '../api/user.js';
import { isNamespaceTerminating } from '../controller/namespace-terminating.js';
import type { RequestHandler } from '../server/core.js';
import type { AccountKey } from './account.js';

/** Thrown when a request of a ServiceAccount that a test runs as was refused (403): its roles lack a permission. */
export class AccountRefused extends Error {
  override readonly name = 'AccountRefused';
}

/** Records the refused requests of some accounts. */
export class Refusals {
  readonly #usernames = new Set<string>();
  readonly #onRefused: (refusal: ApiError) => void;
  /** One text for each missing permission. */
  readonly #reported = new Set<string>();

  constructor(onRefused: (refusal: ApiError) => void) {
    this.#onRefused = onRefused;
  }

  /** Records refusals of this account from now on. */
  watch({ namespace, name }: AccountKey): void {
    this.#usernames.add(serviceAccountUsername(namespace, name));
  }

  /** All refusals so far as one error; undefined if there were none. */
  get all(): AccountRefused | undefined {
    return this.#reported.size === 0 ? undefined : new AccountRefused([...this.#reported].join('\n'));
  }

  /** Wraps a handler to record refusals; responses do not change. */
  readonly answers =
    (handle: RequestHandler): RequestHandler =>
    async (request) => {
      const response = await handle(request);
      const { result, caller } = response;
      if (caller === undefined || !this.#usernames.has(caller.username)) return response;
      if (result.type !== 'object' || result.code !== 403) return response;
      const refusal = errorFromStatus(result.object, result.code, '');
      if (isReason(refusal, 'Forbidden') && isAboutRights(refusal)) {
        this.#reported.add(refusal.message);
        this.#onRefused(refusal);
      }
      return response;
    };
}

const deniedOtherwise = /(?:^|: )(?:admission webhook "|ValidatingAdmissionPolicy ')/;

/**
 * Whether the refusal is about permissions, not a denial by a webhook or policy, nor a write to a terminating
 * namespace.
 */
const isAboutRights = (refusal: ApiError): boolean =>
  !isNamespaceTerminating(refusal) && !deniedOtherwise.test(refusal.message);
