// Datagrams as the kernel sends them for a listing of connections, for tests.
import { addressBytes } from './address-bytes.ts';
import { type AttributeWriter, createAttributeWriter } from './attributes.ts';
import { messageFlag, messageType, writeMessage } from './messages.ts';
import { netfilterType, writeNetfilterHeader } from './netfilter.ts';

export type ExampleFlow = {
  readonly protocol?: number;
  readonly source: string;
  readonly sourcePort?: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly replySource: string;
  readonly replySourcePort: number;
  readonly status?: number;
  /** Of TCP. */
  readonly state?: number;
  readonly id?: number;
  readonly zone?: number;
  /** From and to the client; absent: not counted. */
  readonly bytes?: readonly [number, number];
};

const newConnection = 0;
const tcp = 6;
const established = 3;
const seenReply = 1 << 1;

export function exampleFlowDatagram(flows: readonly ExampleFlow[], isLast = false): Buffer {
  const writer = createAttributeWriter();
  const header = { flags: messageFlag.multi, sequence: 1 };
  for (const flow of flows) {
    writeMessage(writer, { ...header, type: netfilterType('conntrack', newConnection) }, () => {
      writeNetfilterHeader(writer, 2);
      writeFlow(writer, flow);
    });
  }
  if (isLast) writeMessage(writer, { ...header, type: messageType.done }, () => writer.u32(0));
  return Buffer.from(writer.bytes());
}

function writeFlow(writer: AttributeWriter, flow: ExampleFlow): void {
  const { protocol = tcp, sourcePort = 40_000, bytes } = flow;
  const tuple = (type: number, ends: Ends): void =>
    writer.nested(type, () => writeTuple(writer, protocol, ends));
  tuple(1, {
    ...{ source: flow.source, sourcePort },
    ...{ destination: flow.destination, destinationPort: flow.destinationPort },
  });
  tuple(2, {
    ...{ source: flow.replySource, sourcePort: flow.replySourcePort },
    ...{ destination: flow.source, destinationPort: sourcePort },
  });
  writer.attributeBe32(3, flow.status ?? seenReply);
  if (protocol === tcp) {
    writer.nested(4, () =>
      writer.nested(1, () => writer.attributeU8(1, flow.state ?? established)),
    );
  }
  for (const [at, count] of (bytes ?? []).entries()) {
    writer.nested(9 + at, () => {
      writer.attributeBe64(1, 1n);
      writer.attributeBe64(2, BigInt(count));
    });
  }
  writer.attributeBe32(12, flow.id ?? 1);
  if (flow.zone !== undefined) writer.attributeBe16(18, flow.zone);
}

type Ends = Pick<ExampleFlow, 'source' | 'destination' | 'destinationPort'> & {
  readonly sourcePort: number;
};

function writeTuple(writer: AttributeWriter, protocol: number, ends: Ends): void {
  const first = ends.source.includes(':') ? 3 : 1;
  writer.nested(1, () => {
    writer.attribute(first, addressBytes(ends.source));
    writer.attribute(first + 1, addressBytes(ends.destination));
  });
  writer.nested(2, () => {
    writer.attributeU8(1, protocol);
    writer.attributeBe16(2, ends.sourcePort);
    writer.attributeBe16(3, ends.destinationPort);
  });
}
