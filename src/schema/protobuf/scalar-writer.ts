// Scalars from their JSON form.
import { parseGoTime } from '../go-time.ts';
import type { ScalarType } from '../node.ts';
import {
  type Writer,
  writeBytes,
  writeDouble,
  writeInteger,
  writeNested,
  writeString,
} from './writer.ts';

type WriteScalar = (writer: Writer, value: unknown) => void;

export function scalarWriter(number: number, type: ScalarType): WriteScalar {
  switch (type) {
    case 'string':
      return (writer, value) => writeString(writer, number, value as string);
    case 'int32':
    case 'int64':
      return (writer, value) => writeInteger(writer, number, value as number);
    case 'double':
      return (writer, value) => writeDouble(writer, number, value as number);
    case 'boolean':
      return (writer, value) => writeInteger(writer, number, value === true ? 1 : 0);
    case 'bytes':
      return (writer, value) => writeBytes(writer, number, Buffer.from(value as string, 'base64'));
    case 'time':
    case 'microTime':
      return (writer, value) => writeTime(writer, number, value as string);
    case 'quantity':
      return (writer, value) =>
        writeNested(writer, number, () => writeString(writer, 1, String(value)));
    case 'intOrString':
      return (writer, value) => writeIntOrString(writer, number, value as number | string);
    case 'any':
      return (writer, value) =>
        writeNested(writer, number, () => writeString(writer, 1, JSON.stringify(value)));
  }
}

/** Seconds are written even when zero: an empty message means no time. */
function writeTime(writer: Writer, number: number, text: string): void {
  const time = parseGoTime('seconds', text);
  if ('error' in time) throw new Error(`Cannot write a time to protobuf: ${time.error}`);
  const nanos = time.microseconds * 1000;
  writeNested(writer, number, () => {
    if (nanos !== 0) writeInteger(writer, 2, nanos);
    writeInteger(writer, 1, Math.floor(time.ms / 1000));
  });
}

const isString = 1;

function writeIntOrString(writer: Writer, number: number, value: number | string): void {
  const isText = typeof value === 'string';
  writeNested(writer, number, () => {
    writeString(writer, 3, isText ? value : '');
    writeInteger(writer, 2, isText ? 0 : value);
    writeInteger(writer, 1, isText ? isString : 0);
  });
}
