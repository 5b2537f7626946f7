import { embedded, field, integer32, integer64, intOrString, list, optional, string } from '../../schema/builder.js';
import { coreStruct } from '../core-struct.js';
import { signals } from './signals.js';

/** Schemas of probes and lifecycle handlers of containers. */

const execAction = coreStruct(
  'ExecAction',
  {
    command: field(1, list(string(), { listType: 'atomic' }), {
      description: 'Command and arguments; they are not run in a shell.',
    }),
  },
  { description: 'Command that is executed in the container.' },
);

const httpHeader = coreStruct(
  'HTTPHeader',
  {
    name: field(1, string(), { presence: 'always', description: 'Name of the header.' }),
    value: field(2, string(), { presence: 'always', description: 'Value of the header.' }),
  },
  { required: ['name', 'value'], description: 'HTTP header of a request.' },
);

const httpGetAction = coreStruct(
  'HTTPGetAction',
  {
    path: field(1, string(), { fills: '/', description: 'Path of the request; / by default.' }),
    port: field(2, intOrString(), { presence: 'always', description: 'Number or name of the port.' }),
    host: field(3, string(), { description: 'Host to connect to; by default the IP address of the pod.' }),
    scheme: field(4, string({ go: 'v1.URIScheme', enum: ['HTTP', 'HTTPS'] }), {
      fills: 'HTTP',
      description: 'Scheme of the request: HTTP (the default) or HTTPS.',
    }),
    httpHeaders: field(5, list(httpHeader, { listType: 'atomic' }), {
      description: 'Additional headers of the request.',
    }),
  },
  { required: ['port'], description: 'HTTP GET request.' },
);

const tcpSocketAction = coreStruct(
  'TCPSocketAction',
  {
    port: field(1, intOrString(), { presence: 'always', description: 'Number or name of the port.' }),
    host: field(2, string(), { description: 'Host to connect to; by default the IP address of the pod.' }),
  },
  { required: ['port'], description: 'TCP connection to a port.' },
);

const grpcAction = coreStruct(
  'GRPCAction',
  {
    port: field(1, integer32(), { presence: 'always', description: 'Port number of the gRPC service.' }),
    service: field(2, string(), {
      presence: 'null',
      default: '',
      description: 'Name of the service in the health check request; empty by default.',
    }),
  },
  { required: ['port'], description: 'gRPC health check.' },
);

const sleepAction = coreStruct(
  'SleepAction',
  {
    seconds: field(1, integer64(), { presence: 'always', description: 'Number of seconds to sleep.' }),
  },
  { required: ['seconds'], description: 'Pause of the container.' },
);

const probeHandlerFields = {
  exec: optional(1, execAction, { description: 'Command to execute; exit status 0 is success.' }),
  httpGet: optional(2, httpGetAction, { description: 'HTTP GET request; a status code from 200 to 399 is success.' }),
  tcpSocket: optional(3, tcpSocketAction, { description: 'TCP connection; success if it can be opened.' }),
  grpc: optional(4, grpcAction, { description: 'gRPC health check.' }),
};

export const probe = coreStruct(
  'Probe',
  {
    ...embedded(1, 'ProbeHandler', probeHandlerFields),
    initialDelaySeconds: field(2, integer32(), {
      description: 'Seconds after the start of the container before the first probe.',
    }),
    timeoutSeconds: field(3, integer32(), {
      fills: 1,
      description: 'Seconds after which the probe times out; 1 by default.',
    }),
    periodSeconds: field(4, integer32(), { fills: 10, description: 'Seconds between probes; 10 by default.' }),
    successThreshold: field(5, integer32(), {
      fills: 1,
      description: 'Consecutive successes, after a failure, for the probe to count as successful; 1 by default.',
    }),
    failureThreshold: field(6, integer32(), {
      fills: 3,
      description: 'Consecutive failures, after a success, for the probe to count as failed; 3 by default.',
    }),
    terminationGracePeriodSeconds: optional(7, integer64(), {
      description: 'Seconds that the pod has to terminate after a failed probe; by default those of the pod.',
    }),
  },
  { description: 'Periodic health check of a container.' },
);

const lifecycleHandler = coreStruct(
  'LifecycleHandler',
  {
    exec: optional(1, execAction, { description: 'Command to execute in the container.' }),
    httpGet: optional(2, httpGetAction, { description: 'HTTP GET request to perform.' }),
    tcpSocket: optional(3, tcpSocketAction, { description: 'Deprecated: not supported as a handler.' }),
    sleep: optional(4, sleepAction, { description: 'Time to sleep.' }),
  },
  { description: 'Action of a lifecycle hook; exactly one member is set.' },
);

export const lifecycle = coreStruct(
  'Lifecycle',
  {
    postStart: optional(1, lifecycleHandler, {
      description: 'Action right after the container is created; if it fails, the container is terminated.',
    }),
    preStop: optional(2, lifecycleHandler, {
      description: 'Action before the container is terminated; not run if the container exits on its own.',
    }),
    stopSignal: optional(3, string({ go: 'v1.Signal', enum: signals }), {
      description: 'Signal that stops the container; chosen by the container runtime by default.',
    }),
  },
  { description: 'Actions at the start and termination of a container.' },
);
