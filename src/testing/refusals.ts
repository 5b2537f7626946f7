import { type ApiError, errorFromStatus, isReason } from '../api/errors.js';
import { serviceAccountUsername } from '../api/user.js';
import { isNamespaceTerminating } from '../controller/namespace-terminating.js';
import type { RequestHandler } from '../server/core.js';
import type { AccountKey } from './account.js';

/** A ServiceAccount that a test runs something as was refused what it asked (403): its roles lack a right. */
export class AccountRefused extends Error {
  override readonly name = 'AccountRefused';
}

/** Watches for what some accounts are refused. */
export class Refusals {
  readonly #usernames = new Set<string>();
  readonly #onRefused: (refusal: ApiError) => void;
  /** One text for each right that was missing. */
  readonly #told = new Set<string>();

  constructor(onRefused: (refusal: ApiError) => void) {
    this.#onRefused = onRefused;
  }

  /** From now on refusals of this account are told. */
  watch({ namespace, name }: AccountKey): void {
    this.#usernames.add(serviceAccountUsername(namespace, name));
  }

  /** All that was told so far; undefined if nothing was. */
  get all(): AccountRefused | undefined {
    return this.#told.size === 0 ? undefined : new AccountRefused([...this.#told].join('\n'));
  }

  /** The same answers. */
  readonly answers =
    (handle: RequestHandler): RequestHandler =>
    async (request) => {
      const response = await handle(request);
      const { result, caller } = response;
      if (caller === undefined || !this.#usernames.has(caller.username)) return response;
      if (result.type !== 'object' || result.code !== 403) return response;
      const refusal = errorFromStatus(result.object, result.code, '');
      if (isReason(refusal, 'Forbidden') && isAboutRights(refusal)) {
        this.#told.add(refusal.message);
        this.#onRefused(refusal);
      }
      return response;
    };
}

const deniedOtherwise = /(?:^|: )(?:admission webhook "|ValidatingAdmissionPolicy ')/;

/** What a webhook or a policy denies, and what comes to a namespace that is being deleted, says nothing of rights. */
const isAboutRights = (refusal: ApiError): boolean =>
  !isNamespaceTerminating(refusal) && !deniedOtherwise.test(refusal.message);
