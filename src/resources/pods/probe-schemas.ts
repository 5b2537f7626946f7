import { embedded, field, integer32, integer64, intOrString, list, optional, string } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';
import { signals } from './signals.js';

/** Schemas of probes and lifecycle handlers of containers. */

const execAction = coreStruct(
  'ExecAction',
  {
    command: field(1, list(string(), { listType: 'atomic' }), {
      description: 'Program and arguments; there is no shell.',
    }),
  },
  { description: 'A command in the container.' },
);

const httpHeader = coreStruct(
  'HTTPHeader',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the header.' }),
    value: field(2, string(), { presence: 'always', description: 'Its value.' }),
  },
  { required: ['name', 'value'], description: 'A header of a request.' },
);

const httpGetAction = coreStruct(
  'HTTPGetAction',
  {
    path: field(1, string(), { fills: '/', description: 'Path of the request.' }),
    port: field(2, intOrString(), { presence: 'always', description: 'Number or name of the port.' }),
    host: field(3, string(), { description: 'Host; the address of the pod unless given.' }),
    scheme: field(4, string({ go: 'v1.URIScheme', enum: ['HTTP', 'HTTPS'] }), {
      fills: 'HTTP',
      description: 'HTTP or HTTPS.',
    }),
    httpHeaders: field(5, list(httpHeader, { listType: 'atomic' }), { description: 'Headers of the request.' }),
  },
  { required: ['port'], description: 'A request by HTTP.' },
);

const tcpSocketAction = coreStruct(
  'TCPSocketAction',
  {
    port: field(1, intOrString(), { presence: 'always', description: 'Number or name of the port.' }),
    host: field(2, string(), { description: 'Host; the address of the pod unless given.' }),
  },
  { required: ['port'], description: 'A connection.' },
);

const grpcAction = coreStruct(
  'GRPCAction',
  {
    port: field(1, integer32(), { presence: 'always', description: 'Number of the port.' }),
    service: field(2, string(), { presence: 'null', default: '', description: 'Service that is asked about.' }),
  },
  { required: ['port'], description: 'A health check of gRPC.' },
);

const sleepAction = coreStruct(
  'SleepAction',
  {
    seconds: field(1, integer64(), { presence: 'always', description: 'So many seconds.' }),
  },
  { required: ['seconds'], description: 'Waiting.' },
);

const probeHandlerFields = {
  exec: optional(1, execAction, { description: 'By a command.' }),
  httpGet: optional(2, httpGetAction, { description: 'By HTTP.' }),
  tcpSocket: optional(3, tcpSocketAction, { description: 'By a connection.' }),
  grpc: optional(4, grpcAction, { description: 'By gRPC.' }),
};

export const probe = coreStruct(
  'Probe',
  {
    ...embedded(1, 'ProbeHandler', probeHandlerFields),
    initialDelaySeconds: field(2, integer32(), { description: 'Seconds before the first time.' }),
    timeoutSeconds: field(3, integer32(), { fills: 1, description: 'Seconds that an answer may take.' }),
    periodSeconds: field(4, integer32(), { fills: 10, description: 'Seconds between two times.' }),
    successThreshold: field(5, integer32(), {
      fills: 1,
      description: 'Successes in a row after a failure that count as success.',
    }),
    failureThreshold: field(6, integer32(), { fills: 3, description: 'Failures in a row that count as failure.' }),
    terminationGracePeriodSeconds: optional(7, integer64(), {
      description: 'Seconds that the pod has to end when this fails.',
    }),
  },
  { description: 'Asks a container how it is.' },
);

const lifecycleHandler = coreStruct(
  'LifecycleHandler',
  {
    exec: optional(1, execAction, { description: 'A command.' }),
    httpGet: optional(2, httpGetAction, { description: 'A request by HTTP.' }),
    tcpSocket: optional(3, tcpSocketAction, { description: 'A connection; no longer done.' }),
    sleep: optional(4, sleepAction, { description: 'Waiting.' }),
  },
  { description: 'What is done.' },
);

export const lifecycle = coreStruct(
  'Lifecycle',
  {
    postStart: optional(1, lifecycleHandler, { description: 'Right after the start.' }),
    preStop: optional(2, lifecycleHandler, { description: 'Before the end.' }),
    stopSignal: optional(3, string({ go: 'v1.Signal', enum: signals }), { description: 'Signal that ends it.' }),
  },
  { description: 'What happens after the start and before the end of a container.' },
);
