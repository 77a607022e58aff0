// Runs on a node of the lab: gives pods their network as its parent says, over the channel between the two.
import { createHttpTransport } from '../../../src/client/http-transport.ts';
import type { Connection } from '../../../src/client/read-kubeconfig.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { releaseVersion } from '../../../src/meta/release-version.ts';
import { createBridgeNetwork } from '../../../src/node/network/run-network.ts';
import { startNode } from '../../../src/node/run.ts';
import { createProcessRuntime } from '../../../src/node/runtimes/process/run-runtime.ts';
import { createLog } from '../../../src/observe/log.ts';

export type AgentOrder =
  | {
      readonly kind: 'start';
      readonly connection: Connection;
      readonly nodeName: string;
      readonly nodeIPs: readonly string[];
      readonly pods: readonly Pod[];
    }
  /** The whole node agent, with its data in the directory. */
  | {
      readonly kind: 'run-node';
      readonly connection: Connection;
      readonly nodeName: string;
      readonly nodeIPs: readonly string[];
      readonly directory: string;
    }
  | { readonly kind: 'add'; readonly pod: Pod }
  | { readonly kind: 'adopt'; readonly pods: readonly Pod[] }
  | { readonly kind: 'remove'; readonly uid: string }
  | { readonly kind: 'stop' };

export type AgentAnswer = { readonly result?: unknown; readonly error?: string };

let network: Awaited<ReturnType<typeof createBridgeNetwork>> | undefined;

async function carryOut(order: AgentOrder): Promise<unknown> {
  if (order.kind === 'start') return start(order);
  if (order.kind === 'run-node') return runNode(order);
  if (network === undefined) throw new Error('not started');
  if (order.kind === 'add') return network.addPod(order.pod);
  if (order.kind === 'adopt') return network.adopt(order.pods);
  if (order.kind === 'remove') return network.removePod(order.uid);
  await network.stop();
  setImmediate(() => process.exit());
  return undefined;
}

type NodeOptions = Pick<
  Extract<AgentOrder, { kind: 'start' }>,
  'connection' | 'nodeName' | 'nodeIPs'
>;

function makeNetwork({
  connection,
  nodeName,
  nodeIPs,
}: NodeOptions): ReturnType<typeof createBridgeNetwork> {
  const caller = { transport: createHttpTransport(connection), userAgent: 'lab' };
  return createBridgeNetwork({ caller, log: createLog('warn'), nodeName, nodeIPs }, never);
}

const never = new AbortController().signal;

async function start(order: Extract<AgentOrder, { kind: 'start' }>): Promise<void> {
  const made = await makeNetwork(order);
  network = made;
  made.adopt(order.pods);
  await new Promise<void>((resolve) => {
    const check = (): void => {
      if (made.problem() === undefined) resolve();
    };
    made.onProblemChange(check);
    check();
  });
}

async function runNode(order: Extract<AgentOrder, { kind: 'run-node' }>): Promise<void> {
  const { connection, nodeName, nodeIPs, directory } = order;
  const log = createLog('error');
  await startNode(
    {
      caller: { transport: createHttpTransport(connection), userAgent: 'kubelet/lab' },
      log,
      name: nodeName,
      nodeIPs,
      dataDirectory: directory,
      runtime: await createProcessRuntime({
        images: {},
        directory,
        now: Date.now,
        log,
        version: 'lab',
      }),
      cluster: { nameservers: [], domain: 'cluster.local' },
      version: releaseVersion('test'),
      network: await makeNetwork(order),
      released: () => Promise.resolve(),
    },
    never,
  );
}

process.on('message', (order: AgentOrder) => {
  carryOut(order).then(
    (result) => process.send?.({ result } satisfies AgentAnswer),
    (error: unknown) => process.send?.({ error: String(error) } satisfies AgentAnswer),
  );
});
process.send?.({ result: 'here' } satisfies AgentAnswer);
