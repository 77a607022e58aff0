// The header of every netlink message (`struct nlmsghdr`), and acknowledgements. Host byte order, which
// ../native.ts has made sure is little-endian.
import type { ByteWriter } from './attributes.ts';
import { alignAttribute } from './attributes.ts';
import { readAttributes, textIn, u32In, viewOf } from './read-attributes.ts';

const messageHeaderBytes = 16;

export const messageType = { noop: 1, error: 2, done: 3, overrun: 4 } as const;

export const messageFlag = {
  request: 0x01,
  multi: 0x02,
  acknowledge: 0x04,
  dumpInterrupted: 0x10,
  dump: 0x300,
  replace: 0x100,
  exclusive: 0x200,
  create: 0x400,
  append: 0x800,
  /** Of answers: attributes follow the error. */
  hasErrorAttributes: 0x200,
  /** Of answers: the message that failed is not repeated in full. */
  isCapped: 0x100,
} as const;

const errorAttribute = { text: 1, offset: 2 } as const;

export type NetlinkMessage = {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly payload: Uint8Array;
};

/** What NLMSG_ERROR says; number 0 is an acknowledgement. */
export type ErrorReport = {
  readonly errno: number;
  /** The message this is about. */
  readonly sequence: number;
  /** The kernel's text, if any. */
  readonly text?: string;
  /** Offset of the offending attribute in the message. */
  readonly offset?: number;
};

export type MessageHeader = {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
};

/** Writes the header, lets `body` write the rest, then fills in the length. */
export function writeMessage(writer: ByteWriter, header: MessageHeader, body: () => void): void {
  const start = writer.length();
  writer.u32(0);
  writer.u16(header.type);
  writer.u16(header.flags);
  writer.u32(header.sequence);
  writer.u32(0);
  body();
  writer.setU32(start, writer.length() - start);
  writer.pad();
}

/** The messages of one or more datagrams concatenated. Throws RangeError when one is cut short. */
export function readMessages(bytes: Uint8Array): NetlinkMessage[] {
  const view = viewOf(bytes);
  const messages: NetlinkMessage[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = at + messageHeaderBytes <= bytes.length ? view.getUint32(at, true) : 0;
    if (length < messageHeaderBytes || at + length > bytes.length) {
      throw new RangeError(`A netlink message at byte ${at} of ${bytes.length} is cut short`);
    }
    messages.push({
      type: view.getUint16(at + 4, true),
      flags: view.getUint16(at + 6, true),
      sequence: view.getUint32(at + 8, true),
      payload: bytes.subarray(at + messageHeaderBytes, at + length),
    });
    at += alignAttribute(length);
  }
  return messages;
}

/** The report in an NLMSG_ERROR, or in an NLMSG_DONE that ends a dump with a failure. */
export function readErrorReport(message: NetlinkMessage): ErrorReport {
  const { payload, sequence } = message;
  const view = viewOf(payload);
  const errno = payload.length < 4 ? 0 : Math.abs(view.getInt32(0, true));
  if (!(message.flags & messageFlag.hasErrorAttributes)) return { errno, sequence };
  const attributes = readAttributes(payload.subarray(errorAttributesStart(message, view)));
  const text = textIn(attributes, errorAttribute.text);
  const offset = u32In(attributes, errorAttribute.offset);
  return {
    errno,
    sequence,
    ...(text === undefined ? {} : { text }),
    ...(offset === undefined ? {} : { offset }),
  };
}

function errorAttributesStart(message: NetlinkMessage, view: DataView): number {
  if (message.type === messageType.done) return 4;
  const original =
    message.flags & messageFlag.isCapped ? messageHeaderBytes : view.getUint32(4, true);
  return alignAttribute(4 + original);
}
