// The relay thread: a poll loop and nothing else. Requests arrive on a message port; an eventfd wakes the loop to read them, because
// the thread never returns to Node's event loop.
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openDatagramSockets } from '../../../host/datagram-sockets.ts';
import { createLinkedQueue } from '../../../host/linked-queue.ts';
import { loadCLibrary } from '../../../host/native.ts';
import { createPollLoop, readable } from '../../../host/poll-loop.ts';
import { openStreamSockets } from '../../../host/stream-sockets.ts';
import { type Balancer, createBalancer } from './balance.ts';
import { type Backend, toBackend } from './relay-address.ts';
import { createRelayTally, type RelayTally } from './relay-counts.ts';
import { createPipePool } from './relay-flow.ts';
import { type RelayCounts, startTcpRelay } from './relay-tcp.ts';
import { startUdpRelay } from './relay-udp.ts';
import type {
  CarriedByRelay,
  RelayReply,
  RelayRequest,
  RelayThreadSettings,
  RelayToOpen,
} from './relays.ts';

type OpenRelay = {
  readonly balancer: Balancer<Backend>;
  readonly tally: RelayTally;
  readonly stop: () => void;
};

carry(workerData as RelayThreadSettings & { readonly port: MessagePort });

function carry({ limits, wake, port }: RelayThreadSettings & { readonly port: MessagePort }): void {
  const now = (): number => performance.now();
  const loop = createPollLoop(now);
  const sockets = openStreamSockets();
  const datagrams = openDatagramSockets();
  const pipes = createPipePool(sockets);
  const connections = createLinkedQueue<() => void>();
  const counts: RelayCounts = {
    ...{ open: 0, total: 0, unanswered: 0, refused: 0 },
    max: limits.maxConnections,
  };
  const relays = new Map<string, OpenRelay>();
  const read = loadCLibrary().signed('long read(int fd, void *bytes, size_t count)');
  const counter = Buffer.alloc(8);
  const reply = (message: RelayReply): void => port.postMessage(message);

  const open = ({ id, protocol, listen, endpoints, affinitySeconds }: RelayToOpen): number => {
    const balancer = createBalancer({
      endpoints: endpoints.map(toBackend),
      ...(affinitySeconds === undefined ? {} : { affinitySeconds }),
      now,
      random: Math.random,
    });
    const { address } = toBackend(listen);
    const tally = createRelayTally();
    const parts = { loop, balancer, counts, tally };
    const relay =
      protocol === 'TCP'
        ? startTcpRelay({ ...parts, sockets, pipes, connections }, address)
        : startUdpRelay({ ...parts, sockets: datagrams, idleMs: limits.udpIdleMs, now }, address);
    relays.set(id, { balancer, tally, stop: relay.stop });
    return relay.port;
  };
  const close = (id: string): void => {
    relays.get(id)?.stop();
    relays.delete(id);
  };
  const handle = (request: RelayRequest): void => {
    switch (request.kind) {
      case 'open':
        try {
          reply({ kind: 'opened', ask: request.request, port: open(request.relay) });
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          reply({ kind: 'failed', ask: request.request, reason });
        }
        return;
      case 'update': {
        const { id, endpoints, affinitySeconds } = request.update;
        relays.get(id)?.balancer.update(endpoints.map(toBackend), affinitySeconds);
        relays.get(id)?.tally.update(endpoints);
        return;
      }
      case 'close':
        close(request.id);
        return;
      case 'totals': {
        const { max: _, ...totals } = counts;
        reply({ kind: 'totals', ask: request.request, totals });
        return;
      }
      case 'carried':
        reply({ kind: 'carried', ask: request.request, relays: carriedBy(relays) });
        return;
      case 'stop':
        for (const id of [...relays.keys()]) close(id);
        for (const end of connections.all()) end();
        pipes.close();
        loop.stop();
    }
  };
  loop.add(wake, readable, () => {
    read(wake, counter, counter.length);
    for (
      let next = receiveMessageOnPort(port);
      next !== undefined;
      next = receiveMessageOnPort(port)
    ) {
      handle(next.message as RelayRequest);
    }
  });
  loop.run();
  port.close();
}

function carriedBy(relays: ReadonlyMap<string, OpenRelay>): readonly CarriedByRelay[] {
  return [...relays].flatMap(([id, { tally }]) => {
    const endpoints = tally.read();
    return endpoints.length === 0 ? [] : [{ id, endpoints }];
  });
}
