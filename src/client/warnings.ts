import type { Client } from './client.js';

/** Told each warning of an answer. */
export type OnWarning = (text: string) => void;

/** How clients are made that tell warnings, of those that tell nobody. */
const telling = new WeakMap<Client, (onWarning: OnWarning) => Client>();

/** The client, with how the same is made that tells warnings. */
export function withWarningFactory<C extends Client>(client: C, make: (onWarning: OnWarning) => Client): C {
  telling.set(client, make);
  return client;
}

/** A client that tells warnings, where the one given tells nobody; else the client itself. */
export const withWarnings = (onWarning: OnWarning, client: Client): Client =>
  telling.get(client)?.(onWarning) ?? client;

/** The texts of an answer's Warning headers (RFC 7234 section 5.5), joined as Node joins them; what is none is passed over. */
export function warningTexts(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  const texts = header.matchAll(/(?:^|,)\s*\d{3} [^\s",]+ "((?:[^"\\]|\\.)*)"/g);
  return Array.from(texts, ([, text = '']) => Buffer.from(text.replace(/\\(.)/g, '$1'), 'latin1').toString('utf8'));
}
