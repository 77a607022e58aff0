// Starts the thread in the LAN's network namespace, and opens sockets there.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { connectWith, type Endpoint } from '../host/namespace-sockets.ts';
import { SystemCallError } from '../host/system-call-error.ts';
import { workerUrl } from '../host/worker-url.ts';
import type { FromLanThread, SocketRequest, ToLanThread } from './lan-messages.ts';
import type { LanPlan } from './plan-lan.ts';
import { createSocketPool } from './socket-pool.ts';

export type Lan = {
  /** The namespace of API server and DNS, and of connections from this machine. */
  readonly path: string;
  /** Namespaces of the nodes, in the order of the plan. */
  readonly nodePaths: readonly string[];
  /** The descriptor of a listening socket of the LAN; throws SystemCallError. */
  readonly listen: (endpoint: Endpoint) => number;
  /** The descriptor of a bound UDP socket of the LAN; throws SystemCallError. */
  readonly bindDescriptor: (endpoint: Endpoint) => number;
  /** A connection whose socket is created in the namespace. */
  readonly connect: (
    namespacePath: string,
    endpoint: Endpoint,
    options?: { readonly allowHalfOpen?: boolean },
  ) => Socket;
  /** A UDP socket of the namespace. */
  readonly bind: (namespacePath: string, endpoint: Endpoint) => Promise<DatagramSocket>;
  /** Adds a route from the LAN to the pods of a node. */
  readonly addRoute: (destination: string, gateway: string) => Promise<void>;
  readonly release: () => Promise<void>;
};

/** Opening a socket takes microseconds; a thread that does not respond for so long has failed. */
const maxWaitMs = 5000;

/** Rejects if the machine does not permit the network, with the reason in the message. */
export async function startLanThread(plan: LanPlan): Promise<Lan> {
  const answers = new SharedArrayBuffer(8);
  const shared = new Int32Array(answers);
  const worker = new Worker(workerUrl('up/run-lan-worker'), { workerData: { plan, answers } });
  const send = (message: ToLanThread): void => worker.postMessage(message);
  const routes = new Map<number, (problem: string | undefined) => void>();
  let lastRoute = 0;
  const open = (request: SocketRequest): number => {
    Atomics.store(shared, 0, 0);
    send({ kind: 'socket', request });
    if (Atomics.wait(shared, 0, 0, maxWaitMs) === 'timed-out') {
      throw new Error('Cannot open a socket on the isolated network: its thread does not respond');
    }
    const result = Atomics.load(shared, 1);
    if (result < 0) throw new SystemCallError(request.kind, -result);
    return result;
  };
  const pool = createSocketPool({
    open: open,
    refill: (request, count) => send({ kind: 'stock', request, count }),
  });
  const built = await new Promise<Extract<FromLanThread, { kind: 'built' }>>((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', (message: FromLanThread) => {
      if (message.kind === 'built') resolve(message);
      else if (message.kind === 'failed') reject(new Error(message.message));
      else if (message.kind === 'stocked') pool.add(message.request, message.descriptors);
      else routes.get(message.id)?.(message.problem);
    });
  });
  const { path, nodePaths } = built;
  return {
    ...{ path, nodePaths },
    listen: (endpoint) => open({ kind: 'listen', namespacePath: path, endpoint }),
    bindDescriptor: (endpoint) => open({ kind: 'bind', namespacePath: path, endpoint }),
    connect: (namespacePath, endpoint, options) =>
      connectWith(pool.take({ kind: 'connect', namespacePath, endpoint }), endpoint, options),
    bind: (namespacePath, endpoint) =>
      openDatagramSocket(
        open({ kind: 'bind', namespacePath, endpoint }),
        endpoint.host.includes(':'),
      ),
    addRoute: (destination, gateway) =>
      new Promise((resolve, reject) => {
        lastRoute += 1;
        const id = lastRoute;
        routes.set(id, (problem) => {
          routes.delete(id);
          if (problem === undefined) resolve();
          else reject(new Error(problem));
        });
        send({ kind: 'route', id, destination, gateway });
      }),
    async release() {
      const ended = once(worker, 'exit');
      for (const fd of pool.drain()) closeSync(fd);
      send({ kind: 'stop' });
      await ended;
    },
  };
}

async function openDatagramSocket(fd: number, isIPv6: boolean): Promise<DatagramSocket> {
  const socket = createSocket(isIPv6 ? 'udp6' : 'udp4');
  // A socket that is already bound emits `listening` immediately.
  const listening = once(socket, 'listening');
  socket.bind({ fd });
  await listening;
  return socket;
}
