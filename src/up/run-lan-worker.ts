// The thread that lives on the isolated network. An ordinary user's thread cannot come back to the machine's network once it has left:
// so the main thread never leaves it, and this one never goes back. Sockets belong to the process: what is opened here is used there.
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
if (port === null) throw new Error('this file is started as a worker');
const { plan, answers } = workerData as LanThreadOptions;
const shared = new Int32Array(answers);
const tell = (message: FromLanThread): void => port.postMessage(message);

run().catch((error: unknown) => {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  port.close();
});

async function run(): Promise<void> {
  enterNewNamespace();
  const lan = await buildLan(plan);
  port?.on('message', (message: ToLanThread) => {
    switch (message.kind) {
      case 'socket':
        return answer(openSocket(message.wish));
      case 'route': {
        const { id, destination, gateway } = message;
        void lan.addRoute(destination, gateway).then(
          () => tell({ kind: 'routed', id }),
          (error: unknown) => tell({ kind: 'routed', id, problem: String(error) }),
        );
        return;
      }
      case 'stock': {
        const { wish, count } = message;
        const opened = Array.from({ length: count }, () => openSocket(wish));
        return tell({ kind: 'stocked', wish, descriptors: opened.filter((fd) => fd >= 0) });
      }
      case 'stop':
        void lan.release().finally(() => port.close());
    }
  });
  tell({ kind: 'built', path: lan.path, nodePaths: lan.nodePaths });
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
