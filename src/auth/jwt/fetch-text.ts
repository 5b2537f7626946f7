import { request } from 'node:https';
import { maxResponseHeaders } from '../../client/http-transport.js';
import { serverVerification } from '../../client/server-verification.js';

/** The response of a server. */
interface FetchedText {
  readonly status: number;
  readonly text: string;
}

/** Fetches a text over HTTPS. Fails if the complete response does not arrive in time. */
export type FetchText = (
  url: string,
  options: { readonly certificateAuthority?: string | undefined },
) => Promise<FetchedText>;

const patienceMs = 10_000;
/** The maximum size of a response in bytes; larger ones are cut off. Keys and discovery documents are small. */
const maxBytes = 1_048_576;

/**
 * Fetches a text from a server that is verified against the given CA, or those that Node.js trusts. Redirects are not
 * followed, because the configuration determines which servers speak for an issuer. No request is sent without TLS.
 */
export const fetchText: FetchText = (url, { certificateAuthority }) =>
  new Promise((resolve, reject) => {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw new Error(`${url} is not an https URL`);
    const outgoing = request(
      url,
      {
        headers: { accept: 'application/json' },
        maxHeaderSize: maxResponseHeaders,
        signal: AbortSignal.timeout(patienceMs),
        ...serverVerification({ ca: certificateAuthority }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > maxBytes) response.destroy(new Error(`the answer of ${url} is larger than ${maxBytes} bytes`));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    outgoing.maxHeadersCount = 0;
    outgoing.on('error', reject);
    outgoing.end();
  });
