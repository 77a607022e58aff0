// A machine that answers for addresses: a thread in the network namespace of its options.
import { parentPort, workerData } from 'node:worker_threads';
import { startAnswering } from '../../../src/host/answer-neighbors.ts';
import { enterNamespace } from '../../../src/host/namespaces.ts';

type Order =
  | { readonly answerFor: readonly string[]; readonly announced: readonly string[] }
  | { readonly stop: true };

const { path } = workerData as { readonly path: string };
enterNamespace(path);
const answers = await startAnswering({
  interface: 'eth0',
  claimed: (address) => parentPort?.postMessage({ claimed: address }),
  failed: (error) => {
    throw error;
  },
});
parentPort?.postMessage('ready');
parentPort?.on('message', async (order: Order) => {
  if ('stop' in order) {
    await answers.stop();
    parentPort?.close();
    return;
  }
  answers.answerFor(order.answerFor, order.announced);
  parentPort?.postMessage('done');
});
