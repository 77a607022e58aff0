// The node agent with real processes against the whole API server. Time stands still where a test gives a fake clock.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { issueNodeServingCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import type { Clock } from '../../../src/host/clock.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { releaseVersion } from '../../../src/meta/release-version.ts';
import { type RunningNode, startNode } from '../../../src/node/run.ts';
import { createProcessRuntime } from '../../../src/node/runtimes/process/run-runtime.ts';
import { createLog, silentLog } from '../../../src/observe/log.ts';
import type { ApiClient, ObjectList } from './api-client.ts';
import {
  type MemoryServer,
  type MemoryServerOptions,
  startMemoryServer,
  testCredentials,
} from './memory-server.ts';

export type NodeHarness = {
  readonly server: MemoryServer;
  readonly api: ApiClient;
  readonly node: RunningNode;
  readonly directory: string;
  /** Ends the agent alone. */
  readonly stopNode: () => Promise<void>;
  /** Another agent for the same node, after the first has ended. */
  readonly startAgain: () => Promise<RunningNode>;
  /** Looks at the pod until it is as wanted; the test's own limit ends what never comes. */
  readonly until: (name: string, holds: (pod: Pod) => boolean) => Promise<Pod>;
  readonly run: (name: string, spec: object, metadata?: object) => Promise<void>;
  readonly isGone: (name: string) => Promise<void>;
  /** Events are a courtesy: they come after what they tell of. Waits for one that begins so. */
  readonly waitForEvent: (name: string, beginning: string) => Promise<void>;
};

export const pods = '/api/v1/namespaces/default/pods';
const nodeName = 'node-1';
/** Of the range for documentation; connections to it are led to loopback. */
const nodeIP = '192.0.2.10';

export type NodeHarnessOptions = {
  readonly clock?: Clock;
  readonly controllers?: boolean;
  readonly access?: MemoryServerOptions['access'];
  /** Stands between the agent and the server. */
  readonly intercept?: (send: Transport['send']) => Transport['send'];
  /** When proxies have let go of a pod; absent: at once. */
  readonly released?: (pod: Pod) => Promise<void>;
};

const releasedAtOnce = (): Promise<void> => Promise.resolve();

export async function startNodeHarness(
  t: TestContext,
  {
    clock,
    controllers = false,
    access = {},
    intercept = (send) => send,
    released = releasedAtOnce,
  }: NodeHarnessOptions = {},
): Promise<NodeHarness> {
  const server = await startMemoryServer({
    ...(clock === undefined ? {} : { clock }),
    access: { admissionPlugins: { disable: ['ServiceAccount'] }, dial: dialLoopback, ...access },
  });
  const directory = mkdtempSync(join(tmpdir(), 'node-'));
  const ending = new AbortController();
  const start = (signal: AbortSignal): Promise<RunningNode> =>
    startAgent({ server, directory, clock, intercept, released }, signal);
  let nodeEnding = new AbortController();
  let node = await start(nodeEnding.signal);
  const stopNode = async (): Promise<void> => {
    nodeEnding.abort();
    await node.ended;
  };
  const controlling = controllers ? control(server, ending.signal) : Promise.resolve();
  t.after(async () => {
    await stopNode();
    ending.abort();
    await controlling;
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    server,
    api: server.api,
    node,
    directory,
    stopNode,
    async startAgain() {
      nodeEnding = new AbortController();
      node = await start(nodeEnding.signal);
      return node;
    },
    ...looking(server.api),
  };
}

export const dialLoopback = (_host: string, port: number) => connect({ host: '127.0.0.1', port });

type AgentLocation = {
  readonly server: MemoryServer;
  readonly directory: string;
  readonly clock: Clock | undefined;
  readonly intercept: (send: Transport['send']) => Transport['send'];
  readonly released: (pod: Pod) => Promise<void>;
};

async function startAgent(
  { server, directory, clock, intercept, released }: AgentLocation,
  signal: AbortSignal,
): Promise<RunningNode> {
  const identity = {
    user: `system:node:${nodeName}`,
    groups: ['system:nodes', 'system:authenticated'],
  };
  const send = intercept(createLocalCall(server.server.handle, identity));
  const { authority } = testCredentials();
  const issued = issueNodeServingCertificate(authority, {
    ...{ node: nodeName, names: [nodeName, nodeIP], now: Date.now() },
  });
  return startNode(
    {
      caller: { transport: { send, close: () => Promise.resolve() }, userAgent: 'kubelet/test' },
      log: createLog('error'),
      name: nodeName,
      nodeIPs: [nodeIP],
      dataDirectory: directory,
      runtime: await createProcessRuntime({
        images: {},
        directory,
        now: clock?.now ?? Date.now,
        log: silentLog,
        version: 'test',
      }),
      cluster: { nameservers: ['10.96.0.10'], domain: 'cluster.local' },
      version: releaseVersion('test'),
      serve: {
        host: '127.0.0.1',
        port: 0,
        tls: {
          key: issued.privateKey,
          cert: issued.certificate,
          clientAuthority: authority.certificate,
        },
      },
      dial: dialLoopback,
      released,
      ...(clock === undefined ? {} : { clock }),
    },
    signal,
  );
}

function control(server: MemoryServer, signal: AbortSignal): Promise<void> {
  const identity = { user: 'system:kube-controller-manager', groups: ['system:masters'] };
  return startControllers({
    transport: {
      send: createLocalCall(server.server.handle, identity),
      close: () => Promise.resolve(),
    },
    log: silentLog,
    authorityCertificate: 'CERTIFICATE',
    signal,
  });
}

function looking(api: ApiClient): Pick<NodeHarness, 'until' | 'run' | 'isGone' | 'waitForEvent'> {
  const events = async (name: string): Promise<readonly string[]> => {
    const list = await api.get<ObjectList<EventText>>('/api/v1/namespaces/default/events');
    return list.items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  };
  return {
    async until(name, holds) {
      for (;;) {
        const pod = await api.get<Pod>(`${pods}/${name}`);
        if (holds(pod)) return pod;
      }
    },
    async run(name, spec, metadata = {}) {
      await api.post(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, ...metadata },
        spec: { nodeName, ...spec },
      });
    },
    async isGone(name) {
      while ((await api.send({ method: 'GET', path: `${pods}/${name}` })).status !== 404);
    },
    async waitForEvent(name, beginning) {
      while (!(await events(name)).some((event) => event.startsWith(beginning)));
    },
  };
}

type EventText = {
  readonly involvedObject: { readonly name: string };
  readonly reason: string;
  readonly message: string;
};
