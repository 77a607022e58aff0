// A netlink connection to the kernel. Small requests run on the caller's thread (microseconds); a connection
// for nftables transactions, which can keep the kernel busy for seconds, gets a thread of its own.
import { type AttributeWriter, createAttributeWriter } from './attributes.ts';
import { type Exchange, exchange } from './exchange.ts';
import {
  messageFlag,
  messageType,
  type NetlinkMessage,
  readErrorReport,
  readMessages,
  writeMessage,
} from './messages.ts';
import { NetlinkError } from './netlink-error.ts';
import { openSocket, type SocketOptions } from './socket.ts';
import { startExchangeThread } from './start-exchange-thread.ts';

export type NetlinkOptions = SocketOptions & {
  /** `own` for work that would block the event loop; it costs a few milliseconds and megabytes. */
  readonly thread?: 'caller' | 'own';
};

export type NetlinkRequest = {
  /** For the error: `add link "pod-1"`. */
  readonly doing: string;
  readonly type: number;
  /** In addition to those of every request. */
  readonly flags?: number;
  /** Everything after the netlink header. */
  readonly write: (writer: AttributeWriter) => void;
};

export type NetlinkBatch = {
  readonly doing: string;
  /** Whole messages. Errors name the sequence number that the caller gave to the message. */
  readonly bytes: Uint8Array;
};

/** Every call throws NetlinkError when the kernel refuses, SystemCallError when it cannot be reached. */
export type Netlink = {
  /** Resolves at the acknowledgement, with the objects that came before it. */
  readonly request: (request: NetlinkRequest) => Promise<readonly NetlinkMessage[]>;
  /** A consistent list: read again if it changed meanwhile. */
  readonly dump: (request: NetlinkRequest) => Promise<readonly NetlinkMessage[]>;
  /** Several messages in one send; whether they are atomic depends on the protocol. Throws the first error. */
  readonly batch: (batch: NetlinkBatch) => Promise<readonly NetlinkMessage[]>;
  readonly close: () => Promise<void>;
};

/** A list that changed while it was read is read again, up to this number of times. */
const maxDumpAttempts = 10;
const eInterrupted = 4;

type Transport = {
  readonly exchange: (exchange: Exchange) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

export async function openNetlink(options: NetlinkOptions): Promise<Netlink> {
  const { thread = 'caller', ...socketOptions } = options;
  const transport =
    thread === 'own' ? await startExchangeThread(socketOptions) : openHere(socketOptions);
  return speakOver(transport);
}

function openHere(options: SocketOptions): Transport {
  const socket = openSocket(options);
  return {
    exchange: async (request) => exchange(socket, request),
    close: async () => socket.close(),
  };
}

function speakOver(transport: Transport): Netlink {
  let lastSequence = 0;

  async function exchangeMessages(
    kind: 'request' | 'dump',
    { type, flags = 0, write }: NetlinkRequest,
  ): Promise<readonly NetlinkMessage[]> {
    lastSequence = (lastSequence + 1) >>> 0;
    const sequence = lastSequence;
    const ending = kind === 'dump' ? messageFlag.dump : messageFlag.acknowledge;
    const writer = createAttributeWriter();
    writeMessage(writer, { type, flags: messageFlag.request | ending | flags, sequence }, () =>
      write(writer),
    );
    return readMessages(await transport.exchange({ kind, sequence, bytes: writer.bytes() }));
  }

  return {
    request: async (request) =>
      objectsOf(request.doing, await exchangeMessages('request', request)),
    dump: async (request) => {
      for (let attempt = 1; ; attempt++) {
        const messages = await exchangeMessages('dump', request);
        const objects = objectsOf(request.doing, messages);
        if (!messages.some((m) => m.flags & messageFlag.dumpInterrupted)) return objects;
        if (attempt === maxDumpAttempts) {
          throw new NetlinkError(request.doing, { errno: eInterrupted, sequence: lastSequence });
        }
      }
    },
    batch: async ({ doing, bytes }) => {
      const reply = await transport.exchange({ kind: 'batch', sequence: 0, bytes });
      return objectsOf(doing, readMessages(reply));
    },
    close: transport.close,
  };
}

/** Without acknowledgements and ends of lists. */
function objectsOf(doing: string, messages: readonly NetlinkMessage[]): NetlinkMessage[] {
  const objects: NetlinkMessage[] = [];
  for (const message of messages) {
    if (message.type === messageType.error || message.type === messageType.done) {
      const report = readErrorReport(message);
      if (report.errno !== 0) throw new NetlinkError(doing, report);
    } else if (message.type > messageType.overrun) {
      objects.push(message);
    }
  }
  return objects;
}
