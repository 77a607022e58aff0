// Probes and lifecycle hooks.
import * as s from '../../schema/node.ts';
import { must } from './references.ts';

const execAction = s.struct(
  'ExecAction',
  {
    command: s.list(s.string(), 'Command line, run without a shell; exit code 0 is success.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1] },
);

const httpHeader = s.struct(
  'HTTPHeader',
  {
    name: must(s.string('Name of the header.')),
    value: must(s.string('Value of the header.')),
  },
  { numbers: [1, 2] },
);

const httpGetAction = s.struct(
  'HTTPGetAction',
  {
    path: s.string('Path to get; / when empty.'),
    port: must(s.intOrString('Number of the port, or its name in the container.')),
    host: s.string('Host to ask; the address of the pod when empty.'),
    scheme: s.string('HTTP or HTTPS; HTTP when empty.'),
    httpHeaders: s.list(httpHeader, 'Headers of the request.', { listType: 'atomic' }),
  },
  { numbers: [1, 2, 3, 4, 5] },
);
export type HttpGetAction = s.Static<typeof httpGetAction>;

const tcpSocketAction = s.struct(
  'TCPSocketAction',
  {
    port: must(s.intOrString('Number of the port, or its name in the container.')),
    host: s.string('Host to connect to; the address of the pod when empty.'),
  },
  { numbers: [1, 2] },
);

const grpcAction = s.struct(
  'GRPCAction',
  {
    port: must(s.int32('Number of the port.')),
    service: s.always(s.string('Service named in the health check request.', { default: '' })),
  },
  { numbers: [1, 2] },
);

const sleepAction = s.struct(
  'SleepAction',
  {
    seconds: must(s.int64('How long to wait.')),
  },
  { numbers: [1] },
);

export const probe = s.struct(
  'Probe',
  {
    exec: s.pointer(execAction, 'Runs a command in the container.'),
    httpGet: s.pointer(httpGetAction, 'Gets a page; 200 to 399 is success.'),
    tcpSocket: s.pointer(tcpSocketAction, 'Opens a connection.'),
    grpc: s.pointer(grpcAction, 'Asks the gRPC health service.'),
    initialDelaySeconds: s.int32('Wait after the start of the container.'),
    timeoutSeconds: s.int32('When an attempt counts as failed; 1 when absent.'),
    periodSeconds: s.int32('Time between attempts; 10 when absent.'),
    successThreshold: s.int32('Successes in a row to become healthy; 1 when absent.'),
    failureThreshold: s.int32('Failures in a row to become unhealthy; 3 when absent.'),
    terminationGracePeriodSeconds: s.pointer(
      s.int64('Grace for a container that this probe stops; the pod’s when absent.'),
    ),
  },
  { numbers: [...s.within(1, [1, 2, 3, 4]), 2, 3, 4, 5, 6, 7] },
);
export type Probe = s.Static<typeof probe>;

const lifecycleHandler = s.struct(
  'LifecycleHandler',
  {
    exec: s.pointer(execAction, 'Runs a command in the container.'),
    httpGet: s.pointer(httpGetAction, 'Gets a page.'),
    tcpSocket: s.pointer(tcpSocketAction, 'Kept for old clients; does nothing.'),
    sleep: s.pointer(sleepAction, 'Waits.'),
  },
  { numbers: [1, 2, 3, 4] },
);
export type LifecycleHandler = s.Static<typeof lifecycleHandler>;

export const lifecycle = s.struct(
  'Lifecycle',
  {
    postStart: s.pointer(lifecycleHandler, 'Called right after the container was started.'),
    preStop: s.pointer(lifecycleHandler, 'Called before the container gets its stop signal.'),
    stopSignal: s.pointer(s.string('Signal that stops the container.')),
  },
  { numbers: [1, 2, 3] },
);
export type Lifecycle = s.Static<typeof lifecycle>;
