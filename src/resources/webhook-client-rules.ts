import { parseGoUrl } from '../api/go-url.js';
import { dns1035Label, dnsSubdomain } from '../api/names.js';
import {
  child,
  eachInvalid,
  index,
  invalid,
  invalidOnce,
  invalidPort,
  required,
  type Violation,
  validateEach,
} from '../api/violations.js';

/** Validation of a webhook's location, which webhook configurations and conversion webhooks share. */

const form = '; desired format: https://host[/path]';

/** Validates the review versions that a webhook accepts. */
export function reviewVersionsViolations(versions: readonly string[], path: string): readonly Violation[] {
  const seen = new Set<string>();
  return validateEach(versions, (version, at) => {
    if (seen.has(version)) return [invalid(index(path, at), version, 'duplicate version')];
    seen.add(version);
    return eachInvalid(index(path, at), version, dns1035Label(version));
  });
}

/** Validates the URL of a webhook. */
export function validateWebhookUrl(path: string, url: string): readonly Violation[] {
  const parsed = parseGoUrl(url);
  if ('wrong' in parsed) return [required(path, `url must be a valid URL: ${parsed.wrong}${form}`)];
  const { scheme, host, user, fragment, rawQuery } = parsed;
  return [
    ...(scheme === 'https' ? [] : [invalid(path, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === '' ? [invalid(path, host, `host must be specified${form}`)] : []),
    ...(user === undefined ? [] : [invalid(path, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalid(path, fragment, 'fragments are not permitted in the URL')]),
    ...(rawQuery === '' ? [] : [invalid(path, rawQuery, 'query parameters are not permitted in the URL')]),
  ];
}

/**
 * Validates the Service of a webhook. Like Kubernetes, it reports a missing name under `namespace` and a missing
 * namespace under `name`.
 */
export function validateWebhookService(
  path: string,
  service: {
    readonly name?: string | null | undefined;
    readonly namespace?: string | null | undefined;
    readonly path?: string | null | undefined;
    readonly port?: number | null | undefined;
  },
): readonly Violation[] {
  const port = service.port ?? 443;
  return [
    ...(service.namespace ? [] : [required(child(path, 'name'))]),
    ...(service.name ? [] : [required(child(path, 'namespace'))]),
    ...eachInvalid(
      child(path, 'port'),
      port,
      invalidPort(port).map((message) => `port is not valid: ${message}`),
    ),
    ...validateUrlPath(child(path, 'path'), service.path ?? ''),
  ];
}

function validateUrlPath(path: string, urlPath: string): readonly Violation[] {
  if (urlPath === '' || urlPath === '/') return [];
  if (urlPath === '//') return [invalid(path, urlPath, 'segment[0] may not be empty')];
  // The first byte is cut off, whether or not it is a slash.
  const inner = Buffer.from(urlPath).subarray(1).toString();
  const segments = (inner.endsWith('/') ? inner.slice(0, -1) : inner).split('/');
  const wrong = invalidOnce(path, urlPath);
  return [
    ...(urlPath.startsWith('/') ? [] : [wrong("must start with a '/'")]),
    ...validateEach(segments, (segment, at) =>
      segment === ''
        ? [wrong(`segment[${at}] may not be empty`)]
        : dnsSubdomain(segment).map((text) => wrong(`segment[${at}]: ${text}`)),
    ),
  ];
}
