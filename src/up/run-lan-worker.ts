// The worker thread in the LAN's network namespace. Without root, a thread that has left the machine's network cannot enter it again:
// the main thread never leaves it, and this thread never returns. Descriptors belong to the process: the main thread uses what is
// opened here.
import { parentPort, workerData } from 'node:worker_threads';
import {
  bindDescriptorInside,
  clientDescriptorInside,
  listenInside,
} from '../host/namespace-sockets.ts';
import { enterNewNamespace } from '../host/namespaces.ts';
import { SystemCallError } from '../host/system-call-error.ts';
import { buildLan } from './build-lan.ts';
import type {
  FromLanThread,
  LanThreadOptions,
  SocketRequest,
  ToLanThread,
} from './lan-messages.ts';

const port = parentPort;
if (port === null) throw new Error('this file must be started as a worker');
const { plan, answers } = workerData as LanThreadOptions;
const shared = new Int32Array(answers);
const post = (message: FromLanThread): void => port.postMessage(message);

run().catch((error: unknown) => {
  post({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  port.close();
});

async function run(): Promise<void> {
  enterNewNamespace();
  const lan = await buildLan(plan);
  port?.on('message', (message: ToLanThread) => {
    switch (message.kind) {
      case 'socket':
        return answer(openSocket(message.request));
      case 'route': {
        const { id, destination, gateway } = message;
        void lan.addRoute(destination, gateway).then(
          () => post({ kind: 'routed', id }),
          (error: unknown) => post({ kind: 'routed', id, problem: String(error) }),
        );
        return;
      }
      case 'stock': {
        const { request, count } = message;
        const opened = Array.from({ length: count }, () => openSocket(request));
        return post({ kind: 'stocked', request, descriptors: opened.filter((fd) => fd >= 0) });
      }
      case 'stop':
        void lan.release().finally(() => port.close());
    }
  });
  post({ kind: 'built', path: lan.path, nodePaths: lan.nodePaths });
}

/** A descriptor, or the number of the error, negated. */
function openSocket({ kind, namespacePath, endpoint }: SocketRequest): number {
  try {
    if (kind === 'listen') return listenInside(namespacePath, endpoint);
    if (kind === 'bind') return bindDescriptorInside(namespacePath, endpoint);
    return clientDescriptorInside(namespacePath, endpoint);
  } catch (error) {
    if (error instanceof SystemCallError) return -error.errno;
    throw error;
  }
}

function answer(result: number): void {
  Atomics.store(shared, 1, result);
  Atomics.store(shared, 0, 1);
  Atomics.notify(shared, 0);
}
