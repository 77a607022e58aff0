// Relays on Node's own sockets, for machines where the C library cannot be reached: the same behaviour at twice the cost.
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { createLinkedQueue, type LinkedQueue } from '../../../host/linked-queue.ts';
import { type Balancer, createBalancer } from './balance.ts';
import type { HostPort } from './relay-address.ts';
import { type Carried, createRelayTally, type RelayTally } from './relay-counts.ts';
import type { RelayLimits, Relays, RelayToOpen } from './relays.ts';

type Counts = { open: number; total: number; unanswered: number; refused: number };
type Carrier = {
  readonly balancer: Balancer<HostPort>;
  readonly counts: Counts;
  readonly tally: RelayTally;
  readonly limits: RelayLimits;
  readonly sockets: LinkedQueue<Socket>;
};
type OpenRelay = Pick<Carrier, 'balancer' | 'tally'> & { readonly stop: () => void };

/** How long each try to reach an endpoint may take (USR-03). */
const tryLimitsMs = [250, 500, 1000, 2000];

export function startPortableRelays(limits: RelayLimits): Relays {
  const counts: Counts = { open: 0, total: 0, unanswered: 0, refused: 0 };
  const relays = new Map<string, OpenRelay>();
  const sockets = createLinkedQueue<Socket>();
  const close = (id: string): void => {
    relays.get(id)?.stop();
    relays.delete(id);
  };
  return {
    async open(relay) {
      const balancer = createBalancer({
        endpoints: relay.endpoints,
        ...(relay.affinitySeconds === undefined ? {} : { affinitySeconds: relay.affinitySeconds }),
        now: () => performance.now(),
        random: Math.random,
      });
      const tally = createRelayTally();
      const carrier = { balancer, counts, tally, limits, sockets };
      const { port, stop } =
        relay.protocol === 'TCP'
          ? await listenTcp(carrier, relay)
          : await listenUdp(carrier, relay);
      relays.set(relay.id, { balancer, tally, stop });
      return port;
    },
    update({ id, endpoints, affinitySeconds }) {
      const relay = relays.get(id);
      relay?.balancer.update(endpoints, affinitySeconds);
      relay?.tally.update(endpoints);
    },
    close,
    totals: () => Promise.resolve({ ...counts }),
    carried: () =>
      Promise.resolve([...relays].map(([id, { tally }]) => ({ id, endpoints: tally.read() }))),
    stop() {
      for (const id of [...relays.keys()]) close(id);
      for (const socket of sockets.all()) socket.destroy();
      return Promise.resolve();
    },
  };
}

async function listenTcp(carrier: Carrier, { listen }: RelayToOpen) {
  const { counts, limits, sockets } = carrier;
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    client.on('error', () => client.destroy());
    if (counts.open >= limits.maxConnections) {
      counts.refused += 1;
      client.resetAndDestroy();
      return;
    }
    counts.open += 1;
    counts.total += 1;
    const entry = sockets.add(client);
    client.on('close', () => {
      sockets.remove(entry);
      counts.open -= 1;
    });
    carryTcp(carrier, client, []);
  });
  server.listen({ host: listen.ip, port: listen.port });
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    stop: () => void server.close(),
  };
}

function carryTcp(carrier: Carrier, client: Socket, tried: readonly HostPort[]): void {
  const { balancer, counts, tally } = carrier;
  const key = client.remoteAddress ?? '';
  const limitMs = tryLimitsMs[tried.length];
  const endpoint = tried.length === 0 ? balancer.pick(key) : balancer.pickAnother(key, tried);
  if (endpoint === undefined || limitMs === undefined || client.destroyed) {
    counts.unanswered += 1;
    client.resetAndDestroy();
    return;
  }
  const { ip: host, port } = endpoint;
  const backend = dial({ host, port, allowHalfOpen: true, noDelay: true });
  const another = (): void => {
    backend.destroy();
    carryTcp(carrier, client, [...tried, endpoint]);
  };
  backend.once('error', another);
  backend.setTimeout(limitMs, another);
  backend.once('connect', () => {
    if (client.destroyed) {
      backend.destroy();
      return;
    }
    backend.setTimeout(0);
    backend.off('error', another);
    backend.on('error', () => client.resetAndDestroy());
    const ended = tally.opened(endpoint, {
      client: () => ({ address: key, port: client.remotePort ?? 0 }),
      ...{ clientKey: key, ...movedBy(backend) },
    });
    client.on('close', () => {
      backend.destroy();
      ended();
    });
    client.pipe(backend).pipe(client);
  });
}

/** Node counts the bytes of its sockets. */
function movedBy(backend: Socket): Pick<Carried, 'up' | 'down'> {
  return {
    up: {
      get moved() {
        return backend.bytesWritten;
      },
    },
    down: {
      get moved() {
        return backend.bytesRead;
      },
    },
  };
}

type Session = { readonly socket: UdpSocket; readonly send: (message: Buffer) => void };

async function listenUdp({ balancer, counts, tally, limits }: Carrier, { listen }: RelayToOpen) {
  const type = listen.ip.includes(':') ? 'udp6' : 'udp4';
  const server = createSocket(type);
  const sessions = new Map<string, Session>();
  const openSession = (key: string, client: RemoteInfo): Session | undefined => {
    const endpoint =
      counts.open < limits.maxConnections ? balancer.pick(client.address) : undefined;
    if (endpoint === undefined) {
      counts.unanswered += 1;
      return undefined;
    }
    const socket = createSocket(type);
    counts.open += 1;
    counts.total += 1;
    const [up, down] = [{ moved: 0 }, { moved: 0 }];
    const ended = tally.opened(endpoint, {
      client: () => client,
      ...{ clientKey: client.address, up, down },
    });
    const forget = (): void => {
      if (!sessions.delete(key)) return;
      counts.open -= 1;
      ended();
      socket.close();
    };
    const timer = setTimeout(forget, limits.udpIdleMs);
    socket.on('message', (message, { address, port }) => {
      // The socket is not connected, so that any sender can write to it.
      if (address !== endpoint.ip || port !== endpoint.port) return;
      timer.refresh();
      down.moved += message.length;
      server.send(message, client.port, client.address);
    });
    socket.on('error', forget);
    const send = (message: Buffer): void => {
      timer.refresh();
      up.moved += message.length;
      socket.send(message, endpoint.port, endpoint.ip);
    };
    const session = { socket, send };
    sessions.set(key, session);
    return session;
  };
  server.on('message', (message, client) => {
    const key = `${client.address} ${client.port}`;
    (sessions.get(key) ?? openSession(key, client))?.send(message);
  });
  server.bind(listen.port, listen.ip);
  await once(server, 'listening');
  // Errors of single datagrams, such as a reply to a client without a route: without a listener they would end the process.
  server.on('error', () => {});
  return {
    port: server.address().port,
    stop: () => {
      server.close();
      for (const { socket } of sessions.values()) socket.close();
      counts.open -= sessions.size;
      sessions.clear();
    },
  };
}
