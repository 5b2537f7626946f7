import { type ApiError, badRequest, notAcceptable } from '../api/errors.js';
import type { Query } from '../api/options.js';
import type { ResourceDefinition } from '../registry/resource-definition.js';
import { hasOpenStructs } from '../schema/open-structs.js';
import type { Representation } from './request.js';

/** Content negotiation: from an Accept header to the form of the answer. */

interface Clause {
  readonly mediaType: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const known = new Map<string, readonly Clause[]>();
const mostRemembered = 500;
const longestHeader = 16 * 1024;

/** Clauses of an Accept header, best first. Headers repeat, so the latest are remembered. */
function parseAccept(header: string): readonly Clause[] {
  const before = known.get(header);
  if (before !== undefined) return before;
  const clauses = header
    .slice(0, longestHeader)
    .split(',')
    .map((text) => {
      const [mediaType = '', ...rest] = text.split(';').map((part) => part.trim());
      const parameters = new Map(
        rest.map((part) => {
          const at = part.indexOf('=');
          return at < 0
            ? [part, '']
            : [
                part.slice(0, at).trim(),
                part
                  .slice(at + 1)
                  .trim()
                  .replace(/^"|"$/g, ''),
              ];
        }),
      );
      const quality = Number(parameters.get('q') ?? 1);
      return { mediaType: mediaType.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 };
    })
    .filter(({ mediaType }) => mediaType !== '');
  const sorted = [...clauses].sort((a, b) => b.quality - a.quality);
  if (known.size >= mostRemembered) known.clear();
  known.set(header, sorted);
  return sorted;
}

const builtInForms: Readonly<Record<string, Representation['mediaType']>> = {
  'application/json': 'json',
  '*/*': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
};
/** Do objects of this kind lose nothing in protobuf? Custom resources never travel in it, and are said to. */
export const existsInProtobuf = ({ origin, schema }: ResourceDefinition): boolean =>
  origin === 'custom' || !hasOpenStructs(schema);

/** What bodies and answers may be; `protobuf` false for kinds that lose something in it. */
export const mediaTypesOf = (protobuf = true): string =>
  ['application/json', 'application/yaml', ...(protobuf ? ['application/vnd.kubernetes.protobuf'] : [])].join(', ');
const streamsOf = (protobuf = true): string =>
  ['application/json', ...(protobuf ? ['application/vnd.kubernetes.protobuf'] : [])]
    .map((type) => `${type};stream=watch`)
    .join(', ');

/** What is asked: what may be transformed, and in which forms it exists. */
export interface Offer {
  readonly origin: 'built-in' | 'custom';
  readonly verb: string;
  /** A list or a watch: what a wrong Accept names differs. */
  readonly collection: boolean;
  readonly query: Query;
  readonly userAgent: string | undefined;
  /** False for built-in kinds that lose something in protobuf. */
  readonly protobuf?: boolean;
  /** False where there are no tables, such as the approval of a request. */
  readonly tables?: boolean;
  /** Not an object of a resource: comes in one shape only. */
  readonly document?: boolean;
}

const prettyAgents = /^(?:curl|Wget|Mozilla\/5\.0)/;

/** What strconv.ParseBool takes for true. */
const goTrue = /^(?:1|t|T|true|TRUE|True)$/;

/** JSON as a person wants to read it: asked for, or by default for browsers and curl. */
function wantsPretty(query: Query, userAgent: string | undefined): boolean {
  const asked = query.get('pretty');
  return asked ? goTrue.test(asked) : prettyAgents.test(userAgent ?? '');
}

/** The form to answer in, or NotAcceptable. Decided before anything is read or stored. */
export function negotiate(accept: string | undefined, offer: Offer): Representation {
  const watching = offer.verb === 'watch';
  const pretty = !watching && wantsPretty(offer.query, offer.userAgent);
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*')
    return { mediaType: 'json', pretty };
  let optionRefused = false;
  for (const { mediaType, parameters } of parseAccept(accept)) {
    const form = Object.hasOwn(builtInForms, mediaType)
      ? builtInForms[mediaType]
      : offer.origin === 'custom' && mediaType === 'application/*'
        ? 'json'
        : undefined;
    if (form === undefined) continue;
    const transform = wantedTransform(parameters, form, offer);
    if (transform === 'refused') {
      optionRefused = true;
      continue;
    }
    if (transform !== undefined) {
      return { mediaType: form, as: transform, pretty: pretty || parameters.get('pretty') === '1' };
    }
    if (form === 'protobuf' && (offer.origin === 'custom' || offer.protobuf === false)) continue;
    if (watching && form === 'yaml') throw refusal(streamsOf(offer.protobuf));
    return { mediaType: form, pretty: pretty || (!watching && parameters.get('pretty') === '1') };
  }
  const listed = mediaTypesOf(offer.protobuf);
  if (offer.origin === 'custom' || optionRefused) throw refusal(listed);
  throw notAcceptable(
    `406: Not Acceptable\n\nAvailable representations: ${offer.collection ? `${listed}, ${streamsOf(offer.protobuf)}` : listed}`,
    {},
  );
}

const refusal = (types: string): ApiError => notAcceptable(`only the following media types are accepted: ${types}`);

/** What the parameters of a media type ask an answer to be turned into, if anything; or that they cannot be met. */
function wantedTransform(
  parameters: Clause['parameters'],
  form: Representation['mediaType'],
  offer: Offer,
): Representation['as'] | 'refused' {
  const stream = parameters.get('stream');
  if (stream && (stream !== 'watch' || form === 'yaml')) return 'refused';
  const serverVersion = parameters.get('sv');
  if (serverVersion && (serverVersion !== 'v1' || offer.document === true)) return 'refused';
  const [kind, group, version] = [parameters.get('as'), parameters.get('g'), parameters.get('v')];
  if (!kind && !group && !version) return undefined;
  const allowed =
    offer.document !== true &&
    group === 'meta.k8s.io' &&
    (version === 'v1' || version === 'v1beta1') &&
    (kind === 'PartialObjectMetadata' ||
      kind === 'PartialObjectMetadataList' ||
      (kind === 'Table' && offer.tables !== false && form !== 'protobuf')) &&
    !(offer.verb === 'watch' && form === 'yaml');
  return allowed ? { kind, version } : 'refused';
}

const inclusions = ['Metadata', 'Object', 'None'] as const;
/** What the rows of a table hold beside their cells. Asked once all else is done: a write is not undone by it. */
export function readIncludeObject({ as }: Representation, query: Query): 'Metadata' | 'Object' | 'None' {
  const given = query.get('includeObject') ?? '';
  if (as?.kind !== 'Table' || given === '') return 'Metadata';
  const found = inclusions.find((one) => one === given);
  if (found === undefined) {
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(given)}: must be 'Metadata', 'Object', 'None', or empty`,
    );
  }
  return found;
}

/** The form of an error, which is never transformed: what Accept says, JSON if it says nothing usable. */
export function errorForm(accept: string | undefined, query: Query, userAgent: string | undefined): Representation {
  const pretty = wantsPretty(query, userAgent);
  if (accept === undefined || accept === '') return { mediaType: 'json', pretty };
  for (const { mediaType, parameters } of parseAccept(accept)) {
    const form = Object.hasOwn(builtInForms, mediaType) ? builtInForms[mediaType] : undefined;
    if (form !== undefined && !parameters.has('as')) return { mediaType: form, pretty };
  }
  return { mediaType: 'json', pretty: true };
}

/** True if the header asks for aggregated discovery (KEP-3352) ahead of anything plainer. */
export function wantsAggregatedDiscovery(accept: string | undefined): 'yes' | 'no' | 'only-unsupported' {
  if (accept === undefined || !accept.includes('APIGroupDiscoveryList')) return 'no';
  let unsupported = false;
  for (const { mediaType, parameters } of parseAccept(accept)) {
    if (mediaType !== 'application/json' && mediaType !== '*/*') continue;
    if (!parameters.has('as')) return 'no';
    if (
      parameters.get('as') === 'APIGroupDiscoveryList' &&
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      parameters.get('v') === 'v2'
    )
      return 'yes';
    unsupported = true;
  }
  return unsupported ? 'only-unsupported' : 'no';
}
