// A line to a server that a test can cut and mend.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CutLine = {
  readonly url: string;
  /** Cuts all connections, and refuses new ones until it is restored. */
  readonly cut: () => void;
  readonly mend: () => void;
  readonly close: () => void;
};

export async function openCutLine(to: string): Promise<CutLine> {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}
