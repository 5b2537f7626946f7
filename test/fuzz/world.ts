import { many } from '../many.js';
import type { FuzzAnswer } from './judge.js';
import { type FuzzRequest, requestTo } from './request.js';
import type { Target } from './target.js';

/** The objects of a server under attack that requests refer to: created at first, and restored regularly. */

const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        tags: { type: 'array', maxItems: 40_000, 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            required: ['port'],
            properties: {
              port: { type: 'integer', minimum: 0, maximum: 65_535 },
              protocol: { type: 'string', default: 'TCP' },
              name: { type: 'string', nullable: true },
            },
          },
        },
        plain: { type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } } },
        pattern: { type: 'string', pattern: '^(a|b|ab)*c?$' },
        size: { 'x-kubernetes-int-or-string': true },
        replicas: { type: 'integer', format: 'int32', default: 1 },
        ratio: { type: 'number', multipleOf: 0.1 },
        choice: {
          oneOf: [{ required: ['a'] }, { required: ['b'] }],
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'string' } },
        },
        when: { type: 'string', format: 'date-time' },
        bytes: { type: 'string', format: 'byte' },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
        embedded: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        unique: { type: 'array', uniqueItems: false, items: { type: 'integer', enum: [1, 2, 3] } },
      },
    },
    status: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, selector: { type: 'string' }, phase: { type: 'string' } },
    },
  },
};

/** A definition with every feature of schemas. */
export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.fuzz.example.com' },
  spec: {
    group: 'fuzz.example.com',
    scope: 'Cluster',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: widgetSchema },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'string', jsonPath: '.spec.size' },
          { name: 'Ports', type: 'integer', jsonPath: '.spec.ports[*].port' },
          { name: 'When', type: 'date', jsonPath: '.spec.when' },
        ],
        selectableFields: [{ jsonPath: '.spec.pattern' }],
      },
      // Fields are selectable only if versions have their own schemas.
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { ...widgetSchema, description: 'The same.' } },
      },
    ],
  },
};

const names = many(1_000, (at) => `p${at}`);
const properties = (property: object): object => Object.fromEntries(names.map((name) => [name, property]));

/** A definition in which each rule is about each item of a list. */
const mazeDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'mazes.fuzz.example.com' },
  spec: {
    group: 'fuzz.example.com',
    scope: 'Cluster',
    names: { plural: 'mazes', kind: 'Maze' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              branches: {
                type: 'array',
                items: { type: 'integer' },
                anyOf: many(1_000, (at) => ({ items: { maximum: -at } })),
              },
              choices: {
                type: 'array',
                items: {
                  type: 'object',
                  'x-kubernetes-preserve-unknown-fields': true,
                  enum: many(1_000, (a) => ({ a })),
                },
              },
              wide: {
                type: 'array',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': names,
                items: { type: 'object', properties: properties({ type: 'string' }), required: names },
              },
              filled: {
                type: 'array',
                items: { type: 'object', properties: properties({ type: 'string', default: 'x' }) },
              },
              lists: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
              text: { type: 'string', pattern: 'a[ab]{900}[cd]' },
              map: {
                type: 'object',
                additionalProperties: {
                  type: 'object',
                  properties: { texts: { type: 'array', items: { type: 'string' } } },
                },
              },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'Repeated', type: 'string', jsonPath: `.lists[${many(3_000, () => 0).join()}][*]` },
          { name: 'Deep', type: 'string', jsonPath: `${'..*'.repeat(1_000)}.x` },
          ...many(1_000, (at) => ({ name: `c${at}`, type: 'string', jsonPath: '.lists' })),
        ],
      },
    ],
  },
};

const collections = {
  configmaps: '/api/v1/namespaces/default/configmaps',
  secrets: '/api/v1/namespaces/default/secrets',
  serviceaccounts: '/api/v1/namespaces/default/serviceaccounts',
  events: '/api/v1/namespaces/default/events',
  pods: '/api/v1/namespaces/default/pods',
  nodes: '/api/v1/nodes',
  leases: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  roles: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  rolebindings: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
  certificatesigningrequests: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  clustertrustbundles: '/apis/certificates.k8s.io/v1beta1/clustertrustbundles',
  podcertificaterequests: '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests',
  validatingwebhookconfigurations: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  mutatingwebhookconfigurations: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  deviceclasses: '/apis/resource.k8s.io/v1/deviceclasses',
  widgets: '/apis/fuzz.example.com/v1/widgets',
  mazes: '/apis/fuzz.example.com/v1/mazes',
} as const;
const kept = [
  '/api/v1/namespaces',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
];
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const start: readonly FuzzRequest[] = [
  requestTo('POST', definitions, { body: widgetDefinition }),
  requestTo('POST', definitions, { body: mazeDefinition }),
  ...['o', 'x'].flatMap((name) => [
    requestTo('POST', collections.configmaps, { body: { metadata: { name }, data: { a: '1' } } }),
    requestTo('POST', collections.serviceaccounts, { body: { metadata: { name }, secrets: [{ name: 'a' }] } }),
    requestTo('POST', collections.secrets, { body: { metadata: { name }, stringData: { a: '1' } } }),
    requestTo('POST', collections.pods, {
      body: {
        metadata: { name },
        spec: {
          serviceAccountName: name,
          containers: [
            {
              name: 'c',
              image: 'i',
              ports: [{ containerPort: 80, hostPort: 80, name: 'p' }],
              env: [{ name: 'A', value: '1' }],
              volumeMounts: [{ name: 'v', mountPath: '/v' }],
              resources: { requests: { cpu: '1', memory: '1Mi' } },
            },
          ],
          volumes: [{ name: 'v', secret: { secretName: name } }],
        },
      },
    }),
    requestTo('POST', collections.widgets, {
      body: { apiVersion: 'fuzz.example.com/v1', kind: 'Widget', metadata: { name }, spec: { any: [1], tags: ['a'] } },
    }),
  ]),
  requestTo('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    body: {
      metadata: { name: 'fuzz:role-writers' },
      rules: [
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['create'] },
        { apiGroups: ['a', 'b'], resources: ['b'], verbs: ['get', 'list'] },
      ],
    },
  }),
  requestTo('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    body: {
      metadata: { name: 'fuzz:role-writers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'fuzz:role-writers' },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'fuzz:role-writers' }],
    },
  }),
];

const deleteAll = (url: string): FuzzRequest =>
  requestTo('DELETE', url, { body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 } });

/** Creates missing objects, and removes those that would interfere with everything else. */
export async function mend({ ask }: Target): Promise<void> {
  await ask(deleteAll(collections.validatingwebhookconfigurations));
  await ask(deleteAll(collections.mutatingwebhookconfigurations));
  for (const request of start) {
    await ask(request);
    // A new kind is served a little later.
    if (request.url === definitions) await served({ ask }, request);
  }
}

/** Waits until the kind of a definition is served, for a short time, because it may never be. */
export async function served({ ask }: Pick<Target, 'ask'>, definition: FuzzRequest): Promise<void> {
  const collection = collectionOf(definition);
  for (let tries = 0; tries < 100; tries++) {
    const { code } = await ask(requestTo('GET', collection));
    if (code !== 404) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Creates what a request needs. Returns the failures. */
export async function prepare({ ask }: Target, { before = [] }: FuzzRequest): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const request of before) {
    const { code, body } = await ask(request);
    if (code >= 400 && code !== 409) wrong.push(`not prepared: ${code} ${body.toString().slice(0, 500)}`);
    else if (request.url === definitions) await served({ ask }, request);
  }
  return wrong;
}

/** Removes what a request needed. */
export async function tidy({ ask }: Target, { after = [] }: FuzzRequest): Promise<void> {
  for (const request of after) await ask(request);
}

function collectionOf({ body }: FuzzRequest): string {
  const { spec } = JSON.parse(body.toString()) as {
    readonly spec: {
      readonly group: string;
      readonly names: { readonly plural: string };
      readonly versions: readonly { readonly name: string }[];
    };
  };
  return `/apis/${spec.group}/${spec.versions[0]?.name}/${spec.names.plural}`;
}

/** Deletes all created objects, after removing their finalizers. */
export async function clear(target: Target): Promise<void> {
  const { ask } = target;
  await mend(target);
  for (const url of Object.values(collections)) {
    await ask(deleteAll(url));
    for (const { metadata } of itemsOf(await ask(requestTo('GET', url)))) {
      const one = `${url}/${encodeURIComponent(metadata.name)}`;
      await ask(
        requestTo('PATCH', one, { body: { metadata: { finalizers: null } }, type: 'application/merge-patch+json' }),
      );
      await ask(deleteAll(one));
    }
  }
  for (const { metadata } of itemsOf(await ask(requestTo('GET', definitions)))) {
    const one = `${definitions}/${encodeURIComponent(metadata.name)}`;
    await ask(deleteAll(one));
    await ask(
      requestTo('PATCH', one, { body: { metadata: { finalizers: null } }, type: 'application/merge-patch+json' }),
    );
  }
}

/** Returns the items of a list; none if the kind is not served at the moment. */
function itemsOf({ code, body }: FuzzAnswer): readonly Item[] {
  if (code !== 200) return [];
  const { items = [] } = JSON.parse(body.toString()) as { readonly items?: readonly Item[] };
  return items;
}
interface Item {
  readonly metadata: { readonly name: string };
}

/** Reads of everything in every format: everything that was accepted must also be readable. */
export const inspections: readonly FuzzRequest[] = [...Object.values(collections), ...kept].flatMap((url) =>
  [
    'application/json',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/yaml',
    'application/vnd.kubernetes.protobuf,application/json',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  ].map((accept) => requestTo('GET', url, { headers: [['accept', accept]], origin: 'inspection' })),
);
