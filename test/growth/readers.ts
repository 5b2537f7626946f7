import { parseFieldSelector } from '../../src/api/field-selectors.js';
import { parseDuration } from '../../src/api/go-duration.js';
import { parseAddress, parsePrefix } from '../../src/api/go-ip.js';
import { canonicalMicroTime, canonicalTime } from '../../src/api/go-time.js';
import { parseGoRequestUrl, parseGoUrl, queryValues } from '../../src/api/go-url.js';
import { readJsonInSteps } from '../../src/api/json-text.js';
import { parseLabelSelector } from '../../src/api/label-selectors.js';
import { isMailAddress } from '../../src/api/mail-address.js';
import { readMediaType } from '../../src/api/media-type.js';
import { labelValue, qualifiedName } from '../../src/api/names.js';
import { compile } from '../../src/api/regular-expression.js';
import { parseSemanticVersion, parseTolerantVersion } from '../../src/api/semantic-version.js';
import type { Steps } from '../../src/api/steps.js';
import { stringFormat } from '../../src/api/string-formats.js';
import { readYaml } from '../../src/api/yaml.js';
import { writeYamlInSteps } from '../../src/api/yaml-writer.js';
import { readContinue } from '../../src/apiserver/continue-token.js';
import { negotiate } from '../../src/apiserver/negotiate.js';
import { parseShardSelector } from '../../src/apiserver/shard-selector.js';
import { parseToken } from '../../src/auth/jws.js';
import { environmentOf } from '../../src/cel/environment.js';
import { kubernetesLibraries } from '../../src/cel/kubernetes.js';
import { decodePath, parseQuery, parseRequestInfo } from '../../src/http/request-info.js';
import { readUnverifiedRequest } from '../../src/pki/certificate-request.js';
import { firstPemBlock } from '../../src/pki/pem.js';
import { parseJsonPath } from '../../src/resources/customresources/json-path.js';
import { builtinDefinitions } from '../../src/resources/index.js';
import { redacted } from '../../src/runtime/redaction.js';
import { decodeEnvelope, encodeEnvelope } from '../../src/schema/protobuf.js';

/**
 * A parser of external texts, and the tokens of its language, in which `§` stands for a number that differs each time.
 */
export interface Reader {
  readonly tokens: readonly string[];
  /** Its errors do not matter, unless they are internal errors of the program. */
  read(text: string): unknown;
  /** The internal error with which an engine rejects a text. */
  readonly mayThrow?: new (
    ...given: never[]
  ) => Error;
  /** The maximum length of its texts: longer ones are rejected, or take linear but long time. */
  readonly most?: number;
}

const bytes = (...list: readonly number[]): string => Buffer.from(list).toString('latin1');
const configMap = builtinDefinitions().find(({ kind }) => kind === 'ConfigMap');
function protobuf(text: string): Steps<unknown> {
  if (configMap === undefined) throw new Error('no ConfigMap');
  return decodeEnvelope(
    configMap.schema,
    encodeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap' }, Buffer.from(text, 'latin1')),
  );
}
const plain = environmentOf({ variables: new Map(), libraries: kubernetesLibraries });
const noQuery = parseQuery('');
const signs = [
  'a',
  '1',
  '0',
  '.',
  '-',
  '+',
  ':',
  '/',
  '%',
  ' ',
  '\n',
  '"',
  '\\',
  '@',
  '\u2028',
  'é',
  '😀',
  '\ud800',
  '%41',
];
/** More steps than a text of ten thousand characters takes; a parser that never ends takes more. */
const mostTurns = 10_000;

export const readers: Readonly<Record<string, Reader>> = {
  yaml: {
    tokens: [
      '"',
      "'",
      '\\',
      'a',
      ' ',
      '\n',
      ': ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '#',
      '&a ',
      '*a',
      '!t ',
      '|',
      '>',
      '? ',
      '\t',
      '%',
      '---\n',
      '...\n',
      '\u2028',
      '<<: ',
      '§',
      '\n  ',
    ],
    read: (text) => {
      let turns = 0;
      return readYaml(text, async () => {
        if (++turns > mostTurns) throw new RangeError('there is no end to it');
      });
    },
    most: 8_000,
  },
  'yaml written': {
    tokens: ['a', ' ', '\n', '\u0080', "'", '"', ':', '#', '1', '0', '😀', '\u0663', '§'],
    read: (text) => writeYamlInSteps({ a: text, [text]: [text] }),
  },
  json: {
    tokens: [
      '"',
      '\\',
      'a',
      ' ',
      ':',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"k§":',
      '"k":',
      '1',
      '1.0',
      '-',
      'e',
      'null',
      '\\ud800',
      '"a"',
      '{"a":',
      '[1,',
    ],
    read: readJsonInSteps,
  },
  protobuf: {
    tokens: [
      bytes(0x0a),
      bytes(0x12),
      bytes(0),
      bytes(1),
      bytes(2),
      bytes(4),
      bytes(0x7f),
      bytes(0xff),
      bytes(0x80, 1),
      bytes(0x0b),
      bytes(0x0c),
      bytes(0x12, 3, 0x12, 0xff, 0x7f),
      bytes(0x0a, 2, 0x0a, 0),
      'abcdefgh',
    ],
    read: protobuf,
  },
  pem: {
    tokens: [
      '-----BEGIN ',
      '-----END ',
      '-----',
      '\n',
      'A',
      ' ',
      ':',
      '=',
      '-----BEGIN A-----\n',
      '\n-----END A-----\n',
      'YQ==\n',
    ],
    read: firstPemBlock,
  },
  der: {
    tokens: [
      bytes(0x30),
      bytes(0x31),
      bytes(0x30, 0x80),
      bytes(2, 1, 0),
      bytes(6, 3, 0x55, 4, 3),
      bytes(0x0c, 1, 0x61),
      bytes(0),
      bytes(1),
      bytes(0xa0),
      bytes(0x80),
      bytes(0x30, 0),
    ],
    read: (text) =>
      readUnverifiedRequest(
        `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(text, 'latin1').toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
      ),
  },
  cel: {
    tokens: [
      'a',
      '1',
      '+',
      '==',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      '?',
      '!',
      '-',
      '.',
      '"',
      "'a'",
      '\\',
      '\n',
      '[1].map(x,',
      'x',
      ' in ',
      '&&',
      '||',
      '//',
      'size(',
      '`',
      '"""',
      '.a',
    ],
    read: (text) => plain.compile(text),
    most: 4_000,
  },
  'shard selectors': {
    tokens: ['object', '.metadata', '.uid', 'shardRange(', ',', ')', "'0x1'", '||', '(', '[', '!', '.'],
    read: parseShardSelector,
    most: 4_000,
  },
  'label selectors': {
    tokens: ['a', '=', '!', ',', '(', ')', ' in ', ' notin ', '>', '1', '\0', '/', 'a§', 'a in (', 'b,'],
    read: parseLabelSelector,
  },
  'field selectors': {
    tokens: ['a', '=', '!', ',', '\\', 'a§', '==', '!=', '\\,', '\ud800'],
    read: parseFieldSelector,
  },
  'JSON paths': {
    tokens: ['.a', '.', '[', ']', '*', '..', '[?(', ')]', '@', '"', "'", '\\', '==', '1', ':', ',', '[0]'],
    read: parseJsonPath,
    most: 10_000,
  },
  patterns: {
    tokens: [
      'a',
      '(',
      ')',
      '[',
      ']',
      '[^',
      '*',
      '+',
      '?',
      '|',
      '\\d',
      '\\pL',
      '{1,9}',
      '\\Q',
      '^',
      '$',
      '.',
      '(?i)',
      '(?P<a>',
    ],
    read: compile,
    most: 8_000,
  },
  URLs: {
    tokens: [...signs, '&', '=', ';', '[', ']', 'http://', 'a§=b&'],
    read: (text) => [parseGoUrl(text), parseGoRequestUrl(text), queryValues(text)],
  },
  paths: {
    tokens: [...signs, 'api', 'v1', 'namespaces', 'watch', '?', '&', 'fieldSelector=', 'watch=1'],
    read: (text) => parseRequestInfo('GET', decodePath(text), parseQuery(text)),
  },
  'Accept headers': {
    tokens: ['a', '/', ';', '=', ',', ' ', '*', 'q=1', 'application/json', ';as=Table;g=meta.k8s.io;v=v1', ';q=0.§'],
    read: (text) =>
      negotiate(text, { origin: 'built-in', verb: 'get', collection: true, query: noQuery, userAgent: text }),
  },
  'media types': {
    tokens: ['a', '/', ';', '=', '"', '\\', ' ', ',', 'a§=b', ';a=b'],
    read: (text) => readMediaType(`a/b;${text}`),
  },
  'continue tokens': {
    tokens: ['a', '{', '}', '"', ':', ',', 'v', '1', '/', '..', '\\', '😀', '"a":'],
    read: (text) => readContinue(Buffer.from(text).toString('base64url')),
  },
  tokens: { tokens: ['.', 'a', 'e30', 'eyJhbGciOiJSUzI1NiJ9', ' ', '\n', '-', '='], read: parseToken },
  times: {
    tokens: [...signs, '2020-01-01T00:00:00', 'Z', '.000000'],
    read: (text) => [canonicalTime(text), canonicalMicroTime(text)],
  },
  durations: {
    tokens: [...signs, '1s', 'ms', '.5h', '000'],
    read: (text) => [parseDuration(text), stringFormat('duration')?.(text)],
  },
  versions: {
    tokens: ['1', '.', '-', '+', 'a', '0', 'v', 'é'],
    read: (text) => [parseSemanticVersion(text), parseTolerantVersion(text)],
  },
  addresses: {
    tokens: [...signs, '::', 'ffff:'],
    read: (text) => [parseAddress(text), parsePrefix(text), stringFormat('cidr')?.(text)],
  },
  'mail addresses': {
    tokens: ['a', '@', '"', '\\', '<', '>', '(', ')', ',', ';', ':', ' ', '.', '[', ']', '=?utf-8?q?', '?=', '=41'],
    read: isMailAddress,
  },
  names: { tokens: signs, read: (text) => [labelValue(text), qualifiedName(text)] },
  'log lines': {
    tokens: [
      '-----BEGIN ',
      'A',
      ' ',
      'PRIVATE KEY-----',
      '-----END ',
      'eyJ',
      'eyJaaaaaaaa',
      '.',
      '-',
      'Bearer ',
      '?',
      '&',
      '=',
      'access_token',
      '\n',
      '%',
    ],
    read: (text) => redacted({ [text]: text }),
  },
};
