// Answers ARP requests and neighbour solicitations for addresses that no interface of this machine has, so that their packets come
// here, where rules of the kernel handle them. Stops with the process.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { loadCLibrary } from './native.ts';
import { macAddressBytes } from './netlink/address-bytes.ts';
import { openNetlink } from './netlink/netlink.ts';
import { requireLink } from './netlink/route-links.ts';
import { workerUrl } from './worker-url.ts';

export type NeighborAnswers = {
  /** Answers for these addresses from now on, and for no others. Announces `announced` to all nodes of the link. */
  readonly answerFor: (addresses: readonly string[], announced: readonly string[]) => void;
  readonly stop: () => Promise<void>;
};

export type NeighborOptions = {
  readonly interface: string;
  /** Called when another node of the link claims one of the addresses. */
  readonly claimed: (address: string) => void;
  /** Called when the thread ends before `stop`. */
  readonly failed: (error: Error) => void;
};

export type AnswerSettings = {
  readonly interfaceIndex: number;
  readonly macAddress: Uint8Array;
  readonly wake: number;
  readonly port: MessagePort;
};

export type AnswerOrder = {
  readonly answerFor: readonly string[];
  readonly announced: readonly string[];
  readonly isLast: boolean;
};

const nonBlocking = 0x800;
const closeOnExec = 0x80000;

/** In the network namespace of the calling thread. Throws NativeUnavailableError where the C library cannot be reached. */
export async function startAnswering(options: NeighborOptions): Promise<NeighborAnswers> {
  const { checked } = loadCLibrary();
  const { interfaceIndex, macAddress } = await findInterface(options.interface);
  const wake = checked('int eventfd(unsigned int value, int flags)')(0, nonBlocking | closeOnExec);
  const write = checked('long write(int fd, const void *bytes, size_t count)');
  const close = checked('int close(int fd)');
  const one = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
  const { port1: port, port2: workerPort } = new MessageChannel();
  const settings: AnswerSettings = { interfaceIndex, macAddress, wake, port: workerPort };
  const worker = new Worker(workerUrl('host/answer-neighbors-worker'), {
    workerData: settings,
    transferList: [workerPort],
  });
  let hasEnded = false;
  let failure: Error | undefined;
  worker.on('error', (error) => {
    failure = error as Error;
  });
  const ended = new Promise<void>((resolve) =>
    worker.once('exit', () => {
      close(wake);
      port.close();
      if (!hasEnded)
        options.failed(failure ?? new Error('The thread that answers neighbours has exited'));
      hasEnded = true;
      resolve();
    }),
  );
  port.on('message', ({ claimed }: { readonly claimed: string }) => options.claimed(claimed));
  const order = (what: AnswerOrder): void => {
    if (hasEnded) return;
    port.postMessage(what);
    write(wake, one, one.length);
  };
  return {
    answerFor: (answerFor, announced) => order({ answerFor, announced, isLast: false }),
    async stop() {
      order({ answerFor: [], announced: [], isLast: true });
      hasEnded = true;
      await ended;
    },
  };
}

async function findInterface(name: string): Promise<Omit<AnswerSettings, 'wake' | 'port'>> {
  const route = await openNetlink({ protocol: 'route' });
  try {
    const { index, macAddress, isLoopback } = await requireLink(route, name);
    if (macAddress === undefined || isLoopback)
      throw new Error(`Cannot answer neighbours on "${name}": it has no hardware address`);
    return { interfaceIndex: index, macAddress: macAddressBytes(macAddress) };
  } finally {
    await route.close();
  }
}
