import { quote } from '../../api/go-text.js';
import { isObject } from '../../api/object.js';
import type { Clock } from '../../runtime/clock.js';
import type { Logger } from '../../runtime/logger.js';
import type { FetchText } from './fetch-text.js';
import { type IssuerKey, readKeySet } from './json-web-key.js';
import type { JwtIssuer } from './jwt-issuer.js';

/**
 * The minimum time between two fetches, in milliseconds, whatever tokens arrive: tokens with made-up key IDs must not
 * cause more.
 */
const restMs = 10_000;
/** The age in milliseconds at which keys are fetched again, so that withdrawn keys are not accepted indefinitely. */
const maxAgeMs = 3_600_000;

export interface IssuerKeysOptions {
  readonly fetch: FetchText;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the text of every key set that was fetched, and with undefined after every failed attempt. */
  readonly fetched?: ((keySet: string | undefined) => void) | undefined;
}

interface FetchedKeys {
  readonly keys: readonly IssuerKey[];
  /**
   * The time of the fetch by the monotonic clock, so that withdrawn keys are not kept longer if the time of day is set
   * back.
   */
  readonly at: number;
}

/**
 * The public keys of an issuer, found by OpenID Connect Discovery 1.0. They are cached, and fetched again when they are
 * old and for an unknown key ID. If that fails, the cached keys stay in use.
 */
export class IssuerKeys {
  readonly #issuer: JwtIssuer['issuer'];
  readonly #fetch: FetchText;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onFetched: IssuerKeysOptions['fetched'];
  #fetched: FetchedKeys | undefined;
  #lastFetch = Number.NEGATIVE_INFINITY;
  /** Whether the last fetch failed. Tokens that the cached keys may verify then do not wait for the next one. */
  #isAway = false;
  #underway: Promise<void> | undefined;

  constructor(issuer: JwtIssuer['issuer'], options: IssuerKeysOptions) {
    this.#issuer = issuer;
    this.#fetch = options.fetch;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#onFetched = options.fetched;
  }

  /**
   * Returns the cached keys with this ID, or all keys for an empty ID; undefined if no key set has been fetched yet.
   * Never fails.
   */
  async withId(keyId: string): Promise<readonly IssuerKey[] | undefined> {
    const isOld = this.#fetched === undefined || this.#clock.monotonic() - this.#fetched.at > maxAgeMs;
    const isKnown = Boolean(this.#among(keyId)?.length);
    const refreshed = isOld || !isKnown ? this.#refresh() : undefined;
    if (!isKnown || !this.#isAway) await refreshed;
    return this.#among(keyId);
  }

  /** Like `withId` after a new fetch, for tokens that the cached keys do not verify. */
  async fresh(keyId: string): Promise<readonly IssuerKey[] | undefined> {
    await this.#refresh();
    return this.#among(keyId);
  }

  #among(keyId: string): readonly IssuerKey[] | undefined {
    return this.#fetched?.keys.filter((key) => keyId === '' || key.keyId === keyId);
  }

  /** Fetches the keys, once for all waiting callers, and not too often. */
  async #refresh(): Promise<void> {
    if (this.#underway === undefined) {
      if (this.#clock.monotonic() - this.#lastFetch < restMs) return;
      this.#lastFetch = this.#clock.monotonic();
      this.#underway = this.#ask().finally(() => {
        this.#underway = undefined;
      });
    }
    await this.#underway;
  }

  async #ask(): Promise<void> {
    try {
      const keys = await this.#keysOf(await this.#keySetUri());
      this.#fetched = { keys, at: this.#clock.monotonic() };
      this.#isAway = false;
      this.#log.debug({ issuer: this.#issuer.url, keys: keys.length }, 'fetched the keys of an issuer');
    } catch (error) {
      this.#isAway = true;
      this.#log.warn({ issuer: this.#issuer.url, err: error }, 'could not fetch the keys of an issuer');
    }
  }

  async #keySetUri(): Promise<string> {
    const { url, discoveryURL } = this.#issuer;
    const found = discoveryURL || `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { issuer, jwks_uri: uri } = jsonObject(found, await this.#text(found));
    if (issuer !== url) {
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${quote(url)} got ${quote(String(issuer ?? ''))}`,
      );
    }
    if (typeof uri !== 'string' || uri === '') throw new Error('provider did not return JWKS URL');
    return uri;
  }

  async #keysOf(uri: string): Promise<readonly IssuerKey[]> {
    try {
      const text = await this.#text(uri);
      const keys = readKeySet(jsonObject(uri, text));
      if (keys === undefined) throw new Error(`oidc: failed to decode keys of ${uri}`);
      this.#onFetched?.(text);
      return keys;
    } catch (error) {
      this.#onFetched?.(undefined);
      throw error;
    }
  }

  async #text(url: string): Promise<string> {
    const { status, text } = await this.#fetch(url, { certificateAuthority: this.#issuer.certificateAuthority });
    if (status !== 200) throw new Error(`${url} answered ${status}`);
    return text;
  }
}

function jsonObject(url: string, text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error(`${url} did not answer with a JSON object`);
  return value;
}
