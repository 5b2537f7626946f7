import { type ApiError, badRequest, notAcceptable } from '../api/errors.js';
import { goJson } from '../api/go-text.js';
import type { Query } from '../api/options.js';
import { withoutOuterSpaces } from '../api/trim.js';
import type { Representation } from './request.js';

/** Content negotiation: determines the form of the response from an Accept header. */

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const parsedHeaders = new Map<string, readonly Clause[]>();
const mostRemembered = 500;
/** The maximum length of a header; the rest is ignored, because sorting the clauses takes quadratic time. */
const longestHeader = 2 * 1024;

/** Parses the clauses of an Accept header, best first, as Go's `goautoneg` does. Results are cached, because headers repeat. */
function parseAccept(header: string): readonly Clause[] {
  const before = parsedHeaders.get(header);
  if (before !== undefined) return before;
  const sorted: Clause[] = [];
  for (const clause of header.slice(0, longestHeader).split(',').map(parseClause)) {
    if (clause === undefined) continue;
    let at = sorted.length;
    while (at > 0 && precedes(clause, sorted[at - 1] as Clause)) at--;
    sorted.splice(at, 0, clause);
  }
  if (header.length > longestHeader) return sorted;
  if (parsedHeaders.size >= mostRemembered) parsedHeaders.clear();
  parsedHeaders.set(header, sorted);
  return sorted;
}

/**
 * Whether one clause is sorted before another. This is no total order: a clause that names a type precedes a wildcard
 * even if its quality is lower.
 */
const precedes = (a: Clause, b: Clause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');

function parseClause(text: string): Clause | undefined {
  const [mediaType = '', ...rest] = withoutOuterSpaces(text).split(';');
  const [type = '', subtype = type === '*' ? '*' : '', ...more] = mediaType.split('/').map(withoutOuterSpaces);
  if (subtype === '' || more.length > 0) return undefined;
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [name = '', value = '', ...others] = parameter.split('=');
    if (value !== '' && others.length === 0) parameters.set(withoutOuterSpaces(name), withoutOuterSpaces(value));
  }
  const quality = Number(parameters.get('q') ?? 1);
  return { type, subtype, parameters, quality: Number.isFinite(quality) ? quality : 0 };
}

type Form = Representation['mediaType'];
const builtInForms: readonly (readonly [subtype: string, form: Form])[] = [
  ['json', 'json'],
  ['yaml', 'yaml'],
  ['vnd.kubernetes.protobuf', 'protobuf'],
];

/** The kind that a clause asks the response to be transformed into. */
interface Target {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

interface Choice {
  readonly form: Form;
  readonly target: Target | undefined;
  readonly pretty: boolean;
}

/** Returns the first form that the header names and `allows` accepts. */
function choose(
  accept: string,
  allows: (form: Form, target: Target | undefined) => boolean,
  serverVersion?: string,
): Choice | undefined {
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const [stream = '', version = ''] = [parameters.get('stream'), parameters.get('sv')];
    if ((stream !== '' && stream !== 'watch') || (version !== '' && version !== serverVersion)) continue;
    const [kind = '', group = '', of = ''] = ['as', 'g', 'v'].map((name) => parameters.get(name));
    const target = kind || group || of ? { kind, group, version: of } : undefined;
    for (const [name, form] of builtInForms) {
      const isNamed = type === 'application' ? subtype === name || subtype === '*' : type === '*' && subtype === '*';
      if (!isNamed || (stream !== '' && form === 'yaml') || !allows(form, target)) continue;
      return { form, target, pretty: parameters.get('pretty') === '1' };
    }
  }
  return undefined;
}

/**
 * The media types of bodies and responses. Protobuf is also listed for custom resources, although it is not accepted
 * for them.
 */
export const mediaTypes = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const streamTypes = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';

/** The forms in which a response is available, and whether it can be transformed. */
export interface Offer {
  readonly origin: 'built-in' | 'custom';
  readonly verb: string;
  /**
   * Whether the request is a list or a watch. This determines which media types the refusal of an Accept header lists.
   */
  readonly collection: boolean;
  readonly query: Query;
  readonly userAgent: string | undefined;
  /** False if there is no table form, as for the approval of a request. */
  readonly tables?: boolean;
  /** Whether the response is a document that cannot be transformed, not an object of a resource. */
  readonly document?: boolean;
}

const prettyAgents = /^(?:curl|Wget|Mozilla\/5\.0)/;

/** The texts that Go's strconv.ParseBool reads as true. */
const goTrue = /^(?:1|t|T|true|TRUE|True)$/;

/** Whether JSON is indented: if the query requests it, and by default for browsers and curl. */
function wantsPretty(query: Query, userAgent: string | undefined): boolean {
  const pretty = query.get('pretty');
  return pretty ? goTrue.test(pretty) : prettyAgents.test(userAgent ?? '');
}

/** Returns the form of the response. Throws NotAcceptable. Called before anything is read or stored. */
export function negotiate(accept: string | undefined, offer: Offer): Representation {
  const watching = offer.verb === 'watch';
  const pretty = !watching && wantsPretty(offer.query, offer.userAgent);
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*')
    return { mediaType: 'json', pretty };
  if (offer.origin === 'built-in')
    requireRoute(accept, offer.collection ? `${mediaTypes}, ${streamTypes}` : mediaTypes);
  const chosen = choose(
    accept,
    (form, target) => (target === undefined ? existsIn(form, offer) : isAllowed(target, form, offer)),
    offer.document === true ? undefined : 'v1',
  );
  if (chosen === undefined) throw refusal(mediaTypes);
  return {
    mediaType: chosen.form,
    ...(chosen.target === undefined ? {} : { as: chosen.target as NonNullable<Representation['as']> }),
    pretty: pretty || (!watching && chosen.pretty),
  };
}

/**
 * Throws NotAcceptable if a watch cannot be written in this form. Watches have fewer forms than their objects; this is
 * checked only after the rest of the request.
 */
export function requireStream({ mediaType }: Representation): void {
  if (mediaType === 'yaml') throw refusal(streamTypes);
}

/** Whether one of the media types in a header satisfies the predicate. Parameters are ignored, as routes do. */
export const namesOne = (header: string, isOne: (name: string) => boolean): boolean =>
  header.split(',').some((clause) => isOne(withoutOuterSpaces(clause.split(';', 1)[0] ?? '')));

/**
 * Throws NotAcceptable unless the header names one of the media types of the route. Routes compare only the names, and
 * the only wildcard that they know is the one for all types.
 */
export function requireRoute(accept: string | undefined, produced: string): void {
  if (!accept) return;
  const types = new Set(['*/*', ...produced.split(', ')]);
  if (namesOne(accept, (name) => types.has(name))) return;
  throw notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${produced}`, {});
}

const refusal = (types: string): ApiError => notAcceptable(`only the following media types are accepted: ${types}`);

const existsIn = (form: Form, { origin, document }: Offer): boolean =>
  form !== 'protobuf' || document === true || origin === 'built-in';

const isAllowed = ({ kind, group, version }: Target, form: Form, { document, tables }: Offer): boolean =>
  document !== true &&
  group === 'meta.k8s.io' &&
  (version === 'v1' || version === 'v1beta1') &&
  (kind === 'PartialObjectMetadata' ||
    kind === 'PartialObjectMetadataList' ||
    (kind === 'Table' && tables !== false && form !== 'protobuf'));

const inclusions = ['Metadata', 'Object', 'None'] as const;
/**
 * Returns what the rows of a table contain besides their cells. Read last, as in Kubernetes: an invalid value does not
 * undo a write.
 */
export function readIncludeObject({ as }: Representation, query: Query): 'Metadata' | 'Object' | 'None' {
  const requested = query.get('includeObject') ?? '';
  if (as?.kind !== 'Table' || requested === '') return 'Metadata';
  const found = inclusions.find((one) => one === requested);
  if (found === undefined) {
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${goJson(requested)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  }
  return found;
}

/**
 * Returns the form of an error, which is never transformed: the form that the Accept header names, or indented JSON if
 * it names no available one.
 */
export function errorForm(accept: string | undefined, query: Query, userAgent: string | undefined): Representation {
  const pretty = wantsPretty(query, userAgent);
  if (accept === undefined || accept === '') return { mediaType: 'json', pretty };
  const chosen = choose(accept, (_, target) => target === undefined);
  if (chosen === undefined) return { mediaType: 'json', pretty: true };
  return { mediaType: chosen.form, pretty: pretty || chosen.pretty };
}

/** Returns the form of aggregated discovery (KEP-3352); undefined unless the header requests it, in any position. */
export function aggregatedForm(
  accept: string | undefined,
  query: Query,
  userAgent: string | undefined,
): Pick<Representation, 'pretty'> | undefined {
  if (!accept?.includes('APIGroupDiscoveryList')) return undefined;
  const chosen = choose(
    accept,
    (form, target) =>
      form === 'json' &&
      target?.kind === 'APIGroupDiscoveryList' &&
      target.group === 'apidiscovery.k8s.io' &&
      target.version === 'v2',
  );
  return chosen && { pretty: chosen.pretty || wantsPretty(query, userAgent) };
}
