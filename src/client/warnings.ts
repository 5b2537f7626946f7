import type { Client } from './client.js';

/** Called for each warning of a response. */
export type OnWarning = (text: string) => void;

/** For each client without a handler for warnings, the function that makes one like it with a handler. */
const telling = new WeakMap<Client, (onWarning: OnWarning) => Client>();

/** Registers how to make a client like this one that reports warnings. Returns the client itself. */
export function withWarningFactory<C extends Client>(client: C, make: (onWarning: OnWarning) => Client): C {
  telling.set(client, make);
  return client;
}

/** Returns a client that reports warnings to `onWarning`; the client itself if it has its own handler. */
export const withWarnings = (onWarning: OnWarning, client: Client): Client =>
  telling.get(client)?.(onWarning) ?? client;

/**
 * Returns the texts of Warning headers (RFC 7234 section 5.5), joined as Node.js joins them; malformed ones are
 * skipped.
 */
export function warningTexts(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  const texts = header.matchAll(/(?:^|,)\s*\d{3} [^\s",]+ "((?:[^"\\]|\\.)*)"/g);
  return Array.from(texts, ([, text = '']) => Buffer.from(text.replace(/\\(.)/g, '$1'), 'latin1').toString('utf8'));
}
