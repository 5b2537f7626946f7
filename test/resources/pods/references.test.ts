import { describe, expect, test } from 'vitest';
import { defaultDomains } from '../../../src/api/domains.js';
import type { Json, JsonObject } from '../../../src/api/object.js';
import { podDefinition } from '../../../src/resources/pods/definition.js';
import { write } from '../write.js';

const pods = podDefinition(defaultDomains);
const fine = { name: 'c', image: 'i' };

/**
 * Returns the violations with the texts and in the order of kube-apiserver 1.36, with the feature gates of the kinds
 * here.
 */
const violationsOf = (spec: JsonObject): readonly string[] => write(pods, { spec }).violations;

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const named = 'name part must be non-empty';
const part =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

describe('a variable with a value from', () => {
  const fields =
    '"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"';
  const noLabel = (path: string): readonly string[] => [
    `fieldRef.fieldPath: Invalid value: "${path}": error converting fieldPath: field label not supported: ${path}`,
  ];
  const field = (fieldPath: string, more: JsonObject = {}): JsonObject => ({ fieldRef: { fieldPath, ...more } });
  const resource = (name: string, divisor: Json = '0'): JsonObject => ({
    resourceFieldRef: { resource: name, divisor },
  });
  test.each<[string, JsonObject, readonly string[]]>([
    ['a field', field('status.podIP'), []],
    ['a label', field("metadata.labels['a.b/c']"), []],
    ['an annotation, regardless of case', field("metadata.annotations['A.b/C']"), []],
    ['an empty field path', field(''), ['fieldRef.fieldPath: Required value']],
    [
      'a field of another version',
      field('metadata.name', { apiVersion: 'v2' }),
      ['fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2'],
    ],
    [
      'all labels at once',
      field('metadata.labels'),
      [`fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: ${fields}`],
    ],
    ['the node by its deprecated name', field('spec.host'), []],
    ['an unknown field', field('spec.x'), noLabel('spec.x')],
    ['a subscript without a field', field("['a']"), noLabel("['a']")],
    ['a subscript with a single quote', field("metadata.labels[']"), noLabel("metadata.labels[']")],
    [
      'a subscript of a field without members',
      field("spec.nodeName['a']"),
      [
        "fieldRef.fieldPath: Invalid value: \"spec.nodeName['a']\": error converting fieldPath: field label does not support subscript: spec.nodeName['a']",
      ],
    ],
    [
      'a label with an empty name',
      field("metadata.labels['']"),
      [`fieldRef: Invalid value: "": ${named}`, `fieldRef: Invalid value: "": ${part}`],
    ],
    ['a resource', resource('limits.hugepages-2Mi', '1Mi'), []],
    ['an empty resource', resource(''), ['resourceFieldRef.resource: Required value']],
    [
      'an unknown resource',
      resource('limits.x', '3'),
      [
        'resourceFieldRef.resource: Unsupported value: "limits.x": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      ],
    ],
    [
      'a resource with an invalid divisor',
      resource('limits.cpu', '3'),
      [
        'resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
    ['a resource with a divisor in another notation', resource('requests.memory', '1000'), []],
    [
      'a resource with an unsupported divisor',
      resource('requests.memory', '1024'),
      [
        'resourceFieldRef.divisor: Invalid value: "requests.memory": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource',
      ],
    ],
    [
      'an object without a name',
      { secretKeyRef: { key: 'k' } },
      [`secretKeyRef.name: Invalid value: "": ${subdomain}`],
    ],
    [
      'a file of a missing volume',
      { fileKeyRef: { key: 'a=', volumeName: 'v', path: '/a/../b' } },
      [
        'fileKeyRef.key: Invalid value: "a=": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
        'fileKeyRef.path: Invalid value: "/a/../b": must not contain \'..\'',
        'fileKeyRef.volumeName: Not found: "v"',
      ],
    ],
    [
      'a file of a volume that is not an emptyDir',
      { fileKeyRef: { key: 'a', volumeName: 'full', path: 'b' } },
      ['fileKeyRef.volumeName: Invalid value: "full": referenced volume must be of type emptyDir'],
    ],
    ['a file of an emptyDir', { fileKeyRef: { key: 'a', volumeName: 'empty', path: 'b' } }, []],
  ])('%s', (_, valueFrom, wanted) => {
    const volumes = [
      { name: 'empty', emptyDir: {} },
      { name: 'full', secret: { secretName: 's' } },
    ];
    const found = violationsOf({ volumes, containers: [{ ...fine, env: [{ name: 'A', valueFrom }] }] });
    expect(found).toEqual(wanted.map((text) => `spec.containers[0].env[0].valueFrom.${text}`));
  });
});

test('envFrom requires exactly one valid reference', () => {
  const envFrom = [
    {},
    { prefix: 'a=', secretRef: { name: 'a' }, configMapRef: {} },
    { prefix: 'OK ', secretRef: { name: 'a-' } },
    { secretRef: { name: 'A' } },
  ];
  const at = 'spec.containers[0].envFrom';
  expect(violationsOf({ containers: [{ ...fine, envFrom }] })).toEqual([
    `${at}: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``,
    `${at}[1].prefix: Invalid value: "a=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    `${at}[1].configMapRef.name: Required value`,
    `${at}: Invalid value: "": may not have more than one field specified at a time`,
    `${at}[3].secretRef.name: Invalid value: "A": ${subdomain}`,
  ]);
});

describe('a volume of', () => {
  const mode = 'must be a number between 0 and 0777 (octal), both inclusive';
  const conflict = (path: string): string => `projected: Invalid value: "${path}": conflicting duplicate paths`;
  const sources = (...given: readonly JsonObject[]): JsonObject => ({ projected: { sources: given } });
  const bundle = (given: JsonObject): JsonObject => sources({ clusterTrustBundle: { path: 'p', ...given } });
  const token = (given: JsonObject): JsonObject => sources({ serviceAccountToken: { path: 'p', ...given } });
  const certificate = (given: JsonObject): JsonObject =>
    sources({ podCertificate: { signerName: 'a.b/c', keyType: 'ED25519', keyPath: 'k', ...given } });
  const first = 'projected.sources[0]';
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'a Secret without a name',
      { secret: { items: [{ key: '', path: '../a', mode: 512 }], defaultMode: -1 } },
      [
        'secret.secretName: Required value',
        `secret.defaultMode: Invalid value: -1: ${mode}`,
        'secret.items[0].key: Required value',
        'secret.items[0].path: Invalid value: "../a": must not contain \'..\'',
        `secret.items[0].mode: Invalid value: 512: ${mode}`,
      ],
    ],
    [
      'a ConfigMap with paths outside the volume',
      {
        configMap: {
          name: 'm',
          items: [
            { key: 'k', path: '/..a' },
            { key: 'k', path: '..a' },
            { key: 'k', path: '' },
          ],
        },
      },
      [
        'configMap.items[0].path: Invalid value: "/..a": must be a relative path',
        'configMap.items[1].path: Invalid value: "..a": must not start with \'..\'',
        'configMap.items[2].path: Required value',
      ],
    ],
    [
      'the downward API',
      {
        downwardAPI: {
          items: [
            { path: 'a' },
            { path: 'b', fieldRef: { fieldPath: 'metadata.labels' }, resourceFieldRef: { resource: 'x' } },
            { path: 'c', resourceFieldRef: { resource: 'limits.cpu' } },
          ],
        },
      },
      [
        'downwardAPI: Required value: one of fieldRef and resourceFieldRef is required',
        'downwardAPI: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
        'downwardAPI.resourceFieldRef.containerName: Required value',
      ],
    ],
    [
      'projected sources with conflicting paths',
      sources(
        { secret: { name: 's', items: [{ key: 'k', path: 'p' }] } },
        { configMap: { items: [{ key: 'k', path: 'p' }] } },
        { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.uid' } }] } },
        { serviceAccountToken: { path: 'p' } },
        { secret: { name: 's' }, configMap: { name: 'm' } },
      ),
      [
        'projected.sources[1].configMap.name: Required value',
        conflict(''),
        conflict('p'),
        'projected.sources[4]: Forbidden: may not specify more than 1 volume type per source',
      ],
    ],
    [
      'two types',
      { secret: { secretName: 's' }, downwardAPI: {} },
      ['downwarAPI: Forbidden: may not specify more than 1 volume type'],
    ],
    ['no sources', { projected: { defaultMode: 0o1000 } }, [`projected.defaultMode: Invalid value: 512: ${mode}`]],
    ['a token of an hour', token({}), []],
    [
      'a token of less than ten minutes',
      token({ expirationSeconds: 599 }),
      [
        `${first}.serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
      ],
    ],
    [
      'a token with too long a lifetime and no path',
      token({ expirationSeconds: 2 ** 32 + 1, path: '' }),
      [
        `${first}.serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`,
        'projected.path: Required value',
      ],
    ],
    ['a trust bundle', bundle({ name: 'a.b:c:d' }), []],
    ['the trust bundles of a signer', bundle({ signerName: 'a.b/c', labelSelector: { matchLabels: { a: 'b' } } }), []],
    [
      'trust bundles without a selection',
      bundle({ path: '' }),
      [
        `${first}.clusterTrustBundle: Required value: either name or signerName must be specified`,
        `${first}.clusterTrustBundle.path: Required value`,
      ],
    ],
    [
      'a trust bundle with both name and signer',
      bundle({ name: 'a', signerName: 'a.b/c' }),
      [
        `${first}.clusterTrustBundle: Invalid value: {"Name":"a","SignerName":"a.b/c","LabelSelector":null,"Optional":null,"Path":"p"}: only one of name and signerName may be used`,
      ],
    ],
    [
      'a trust bundle by name with a label selector',
      bundle({ name: 'A', labelSelector: {} }),
      [
        `${first}.clusterTrustBundle.name: Invalid value: "A": not a valid clustertrustbundlename: ${subdomain}`,
        `${first}.clusterTrustBundle.labelSelector: Invalid value: {}: labelSelector must be unset if name is specified`,
      ],
    ],
    [
      'a trust bundle with an empty name',
      bundle({ name: '' }),
      [
        `${first}.clusterTrustBundle.name: Required value: must be a valid object name`,
        `${first}.clusterTrustBundle.name: Invalid value: "": not a valid clustertrustbundlename: ${subdomain}`,
      ],
    ],
    [
      'trust bundles of a signer with an empty name',
      bundle({ signerName: '', labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
      [
        `${first}.clusterTrustBundle.signerName: Required value: must be a valid signer name`,
        `${first}.clusterTrustBundle.signerName: Required value`,
        `${first}.clusterTrustBundle.labelSelector.matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
      ],
    ],
    ['a certificate', certificate({ maxExpirationSeconds: 3600, userAnnotations: { 'a.b/C': '' } }), []],
    [
      'a certificate of days from a Kubernetes signer',
      certificate({ signerName: 'x.kubernetes.io/c', maxExpirationSeconds: 86_401 }),
      [
        `${first}.podCertificate.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400`,
      ],
    ],
    [
      'a certificate of a minute, without a path',
      certificate({ keyType: 'x', keyPath: '', maxExpirationSeconds: 60, userAnnotations: { A: '', '': '' } }),
      [
        `${first}.podCertificate.userAnnotations: Required value`,
        `${first}.podCertificate.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`,
        `${first}.podCertificate.keyType: Unsupported value: "x": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"`,
        `${first}.podCertificate.maxExpirationSeconds: Invalid value: 60: if provided, maxExpirationSeconds must be >= 3600`,
        `${first}.podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`,
      ],
    ],
    [
      'a certificate with too large annotations',
      certificate({ userAnnotations: { 'a.b/c': 'x'.repeat(262_140) } }),
      [`${first}.podCertificate.userAnnotations: Too long: may not be more than 262144 bytes`],
    ],
    [
      'a certificate with its chain at the path of its key',
      certificate({ certificateChainPath: 'k', credentialBundlePath: '/c' }),
      [`${first}.podCertificate.credentialBundlePath: Invalid value: "/c": must be a relative path`, conflict('k')],
    ],
  ])('%s', (_, volume, wanted) => {
    const found = violationsOf({
      serviceAccountName: 'a',
      containers: [fine],
      volumes: [{ name: 'v', ...volume }],
    });
    expect(found).toEqual(wanted.map((text) => `spec.volumes[0].${text}`));
  });
});

test('a pod without an account cannot have a projected token', () => {
  const projected = { sources: [{}, { serviceAccountToken: { path: 't' } }] };
  expect(violationsOf({ containers: [fine], volumes: [{ name: 'v', projected }] })).toEqual([
    'spec.volumes[0].projected.sources[1].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
  ]);
});

test('a pod with scheduling gates cannot have a node', () => {
  expect(violationsOf({ containers: [fine], nodeName: 'n', schedulingGates: [{ name: 'a' }] })).toEqual([
    'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ]);
});

test('a stored pod that violates newer rules can be labelled, but not made worse', () => {
  const spec = { containers: [fine], volumes: [{ name: 'v', secret: {} }] };
  const labelled = { metadata: { name: 'p', labels: { a: 'b' } }, spec };
  expect(write(pods, labelled, { metadata: { name: 'p' }, spec }).violations).toEqual([]);
  const other = { ...spec, activeDeadlineSeconds: 5 };
  expect(write(pods, { ...labelled, spec: other }, { metadata: { name: 'p' }, spec }).violations).toEqual([
    'spec.volumes[0].secret.secretName: Required value',
  ]);
});

test('the limit for Kubernetes signers applies to those of the configured domain', () => {
  const podCertificate = { signerName: 'pki.test/c', keyType: 'ED25519', keyPath: 'k', maxExpirationSeconds: 86_401 };
  const spec = { containers: [fine], volumes: [{ name: 'v', projected: { sources: [{ podCertificate }] } }] };
  const ours = podDefinition({ ...defaultDomains, signer: 'pki.test' });
  expect([write(ours, { spec }).violations, violationsOf(spec)]).toEqual([
    [
      'spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400',
    ],
    [],
  ]);
});
