// Writing netlink's type-length-value attributes (`struct nlattr`) into one growing buffer. Plain numbers are in host
// order (little-endian, ../native.ts makes sure); the netfilter families want theirs in network order: the `Be` ones.

const headerBytes = 4;
const nestedFlag = 0x8000;
const startBytes = 4096;

/** An attribute's length is a 16-bit number that counts its own header. */
const maxAttributeLength = 0xffff;

export function alignAttribute(length: number): number {
  return (length + 3) & ~3;
}

/** Bytes laid end to end. */
export type ByteWriter = {
  readonly length: () => number;
  /** What was written so far. */
  readonly bytes: () => Uint8Array;
  /** Appends `count` zero bytes and returns their offset. */
  readonly take: (count: number) => number;
  readonly setU16: (at: number, value: number) => void;
  readonly setU32: (at: number, value: number) => void;
  readonly u8: (value: number) => void;
  readonly u16: (value: number) => void;
  readonly u32: (value: number) => void;
  readonly be16: (value: number) => void;
  readonly be32: (value: number) => void;
  readonly be64: (value: bigint) => void;
  readonly raw: (bytes: Uint8Array) => void;
  readonly text: (text: string) => void;
  /** Zero bytes up to the next multiple of four. */
  readonly pad: () => void;
};

export type AttributeWriter = ByteWriter & {
  readonly attribute: (type: number, value: Uint8Array) => void;
  readonly attributeU8: (type: number, value: number) => void;
  readonly attributeU16: (type: number, value: number) => void;
  readonly attributeU32: (type: number, value: number) => void;
  readonly attributeBe16: (type: number, value: number) => void;
  readonly attributeBe32: (type: number, value: number) => void;
  readonly attributeBe64: (type: number, value: bigint) => void;
  /** With the zero byte at the end that the kernel's strings have. */
  readonly attributeText: (type: number, text: string) => void;
  /** Present and empty. */
  readonly attributeFlag: (type: number) => void;
  /** An attribute whose value is what `write` writes. */
  readonly nested: (type: number, write: () => void) => void;
  /** The same without the flag that says so; some families compare the whole type. */
  readonly attributeOf: (type: number, write: () => void) => void;
};

export function createAttributeWriter(): AttributeWriter {
  const writer = createByteWriter();

  function attributeOf(type: number, write: () => void): void {
    const start = writer.length();
    writer.u16(0);
    writer.u16(type);
    write();
    setLength(start, type);
  }
  function setLength(start: number, type: number): void {
    const total = writer.length() - start;
    if (total > maxAttributeLength) {
      throw new RangeError(
        `Attribute ${type} has ${total} bytes; the most is ${maxAttributeLength}`,
      );
    }
    writer.setU16(start, total);
    writer.pad();
  }
  function head(type: number, valueBytes: number): void {
    writer.u16(headerBytes + valueBytes);
    writer.u16(type);
  }

  return {
    ...writer,
    attributeOf,
    nested: (type, write) => attributeOf(type | nestedFlag, write),
    attribute: (type, value) => {
      const start = writer.length();
      head(type, 0);
      writer.raw(value);
      setLength(start, type);
    },
    attributeU8: (type, value) => {
      head(type, 1);
      writer.u8(value);
      writer.pad();
    },
    attributeU16: (type, value) => {
      head(type, 2);
      writer.u16(value);
      writer.pad();
    },
    attributeU32: (type, value) => {
      head(type, 4);
      writer.u32(value);
    },
    attributeBe16: (type, value) => {
      head(type, 2);
      writer.be16(value);
      writer.pad();
    },
    attributeBe32: (type, value) => {
      head(type, 4);
      writer.be32(value);
    },
    attributeBe64: (type, value) => {
      head(type, 8);
      writer.be64(value);
    },
    attributeText: (type, text) =>
      attributeOf(type, () => {
        writer.text(text);
        writer.u8(0);
      }),
    attributeFlag: (type) => head(type, 0),
  };
}

function createByteWriter(): ByteWriter {
  // New bytes are zero, so that taking is padding.
  let buffer = Buffer.alloc(startBytes);
  let length = 0;

  /** May replace the buffer: take before writing into it. */
  function take(count: number): number {
    const at = length;
    length += count;
    if (length > buffer.length) {
      const larger = Buffer.alloc(Math.max(length, buffer.length * 2));
      buffer.copy(larger, 0, 0, at);
      buffer = larger;
    }
    return at;
  }

  const raw = (bytes: Uint8Array): void => {
    const at = take(bytes.length);
    buffer.set(bytes, at);
  };

  return {
    length: () => length,
    bytes: () => buffer.subarray(0, length),
    take,
    setU16: (at, value) => void buffer.writeUInt16LE(value, at),
    setU32: (at, value) => void buffer.writeUInt32LE(value, at),
    u8: (value) => {
      const at = take(1);
      buffer.writeUInt8(value, at);
    },
    u16: (value) => {
      const at = take(2);
      buffer.writeUInt16LE(value, at);
    },
    u32: (value) => {
      const at = take(4);
      buffer.writeUInt32LE(value, at);
    },
    be16: (value) => {
      const at = take(2);
      buffer.writeUInt16BE(value, at);
    },
    be32: (value) => {
      const at = take(4);
      buffer.writeUInt32BE(value, at);
    },
    be64: (value) => {
      const at = take(8);
      buffer.writeBigUInt64BE(value, at);
    },
    raw,
    text: (text) => {
      // Names are short and plain: faster by hand than through a call into Node for each.
      if (!isAscii(text)) return raw(Buffer.from(text));
      const at = take(text.length);
      for (let index = 0; index < text.length; index++) {
        buffer[at + index] = text.charCodeAt(index);
      }
    },
    pad: () => void take(alignAttribute(length) - length),
  };
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 127) return false;
  return true;
}
