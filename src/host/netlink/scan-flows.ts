// Lists the kernel's table of connections datagram by datagram: memory does not grow with the table. Blocks: for a thread of its own.
import type { IPFamily } from './address-bytes.ts';
import {
  createFlowRecord,
  type FlowRecord,
  readFlowRecords,
  writeFlowDump,
} from './flow-records.ts';
import { NetlinkError } from './netlink-error.ts';
import { openSocket, type SocketOptions } from './socket.ts';

export type FlowScan = {
  /** Calls `visit` for each connection, with one record that is reused. An entry may be visited twice. */
  readonly scan: (family: IPFamily, visit: (record: FlowRecord) => void) => void;
  readonly close: () => void;
};

/** Throws NativeUnavailableError without the C library, SystemCallError where the socket cannot be opened. */
export function openFlowScan(options: Omit<SocketOptions, 'protocol'> = {}): FlowScan {
  const socket = openSocket({ ...options, protocol: 'netfilter' });
  const record = createFlowRecord();
  let sequence = 0;
  return {
    scan(family, visit) {
      sequence += 1;
      socket.send(writeFlowDump(family, sequence));
      for (;;) {
        const { buffer, byteOffset, byteLength } = socket.receive();
        const end = readFlowRecords(Buffer.from(buffer, byteOffset, byteLength), record, visit);
        if (end === undefined) continue;
        if (end.errno !== 0) throw new NetlinkError('list connections', end);
        return;
      }
    },
    close: socket.close,
  };
}
