// One request to the kernel and its whole reply, as raw bytes: this half can run on a thread of its own.
import { messageType, readMessages } from './messages.ts';
import { hasCode } from './netlink-error.ts';
import type { NetlinkSocket } from './socket.ts';

export type Exchange = {
  readonly bytes: Uint8Array;
  readonly sequence: number;
  /**
   * How the reply ends. request: with the acknowledgement of this sequence number. dump: with NLMSG_DONE.
   * batch: the kernel has processed it when the send returns, and the replies are queued.
   */
  readonly kind: 'request' | 'dump' | 'batch';
};

/** The datagrams of the reply, concatenated. */
export function exchange(socket: NetlinkSocket, { bytes, sequence, kind }: Exchange): Uint8Array {
  try {
    socket.send(bytes);
    if (kind === 'batch') return receiveQueued(socket);
    const received: Uint8Array[] = [];
    for (let hasEnded = false; !hasEnded; ) {
      const datagram = socket.receive();
      received.push(datagram);
      hasEnded = endsAnswer(datagram, sequence);
    }
    return joined(received);
  } catch (error) {
    // The rest of this reply must not be taken for the next one.
    discardQueued(socket);
    throw error;
  }
}

function receiveQueued(socket: NetlinkSocket): Uint8Array {
  const received: Uint8Array[] = [];
  for (;;) {
    const datagram = socket.receiveNow();
    if (datagram === undefined) return joined(received);
    received.push(datagram);
  }
}

/** ENOBUFS says once that datagrams were dropped; the rest of the queue is still there. */
function discardQueued(socket: NetlinkSocket): void {
  for (let lost = 0; lost < 2; lost++) {
    try {
      receiveQueued(socket);
      return;
    } catch (error) {
      // The caller reports the error of the exchange, not one of this clean-up.
      if (!hasCode(error, 'ENOBUFS')) return;
    }
  }
}

function endsAnswer(datagram: Uint8Array, sequence: number): boolean {
  return readMessages(datagram).some(
    (message) =>
      message.sequence === sequence &&
      (message.type === messageType.error || message.type === messageType.done),
  );
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}
