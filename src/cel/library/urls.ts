import { type GoUrl, parseGoRequestUrl, parseGoUrl, queryValues, splitHost } from '../../api/go-url.js';
import { listFrom, mapFrom } from '../collections.js';
import { perByte } from '../cost.js';
import type { Library } from '../functions.js';
import { scaled } from '../ranges.js';
import { bool, listOf, mapOf, opaque, string } from '../types.js';
import { Failure, type MapValue, type OpaqueValue } from '../values.js';
import { parsing, sizeEstimate } from './call-costs.js';
import { type Costs, global, member } from './declarations.js';

/** URLs: Kubernetes' `urls` library. */

const urlType = opaque('kubernetes.URL');

interface UrlValue extends OpaqueValue {
  readonly url: GoUrl;
}

/** Parses a text that must be valid as the URL of a request; a fragment is parsed too. */
function urlOf(text: string): UrlValue | Failure {
  const asRequest = parseGoRequestUrl(text);
  const url = 'wrong' in asRequest ? asRequest : parseGoUrl(text);
  if ('wrong' in url) return new Failure(`URL parse error during conversion from string: ${url.wrong}`);
  return {
    kind: 'opaque',
    name: 'kubernetes.URL',
    url,
    equals: (other) => 'url' in other && (other as UrlValue).url.text === url.text,
  };
}

const queryOf = ({ url }: UrlValue): MapValue =>
  mapFrom([...queryValues(url.rawQuery)].map(([name, values]) => [name, listFrom(values)]));

const reading: Costs = {
  ...parsing(),
  estimate: (_, [text]) => {
    const size = sizeEstimate(text);
    return { cost: scaled(size, perByte), resultSize: size };
  },
};

const part = (name: string, id: string, read: (url: GoUrl) => string) => ({
  name,
  overloads: [member(id, [urlType], string, ({ url }: UrlValue) => read(url))],
});

export const urls: Library = {
  functions: [
    { name: 'url', overloads: [global('string_to_url', [string], urlType, urlOf, reading)] },
    {
      name: 'isURL',
      overloads: [global('is_url_string', [string], bool, (text: string) => !('wrong' in parseGoRequestUrl(text)))],
    },
    part('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
    part('getHost', 'url_get_host', ({ host }) => host),
    part('getHostname', 'url_get_hostname', ({ host }) => splitHost(host).name),
    part('getPort', 'url_get_port', ({ host }) => splitHost(host).port),
    part('getEscapedPath', 'url_get_escaped_path', ({ escapedPath }) => escapedPath),
    { name: 'getQuery', overloads: [member('url_get_query', [urlType], mapOf(string, listOf(string)), queryOf)] },
  ],
};
