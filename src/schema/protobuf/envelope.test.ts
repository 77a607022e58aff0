import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openEnvelope, toEnvelope } from './envelope.ts';
import { ProtobufError } from './wire.ts';

const hello = '6b387300 0a0a 0a027631 1204 4e6f6465 1202 0801 1a00 2200'.replaceAll(' ', '');

describe('toEnvelope()', () => {
  it('writes what Kubernetes writes', () => {
    const message = Buffer.from([8, 1]);
    const bytes = toEnvelope({ apiVersion: 'v1', kind: 'Node', message });
    assert.equal(bytes.toString('hex'), hello);
  });
});

describe('openEnvelope()', () => {
  it('reads it back', () => {
    const { apiVersion, kind, message } = openEnvelope(Buffer.from(hello, 'hex'));
    assert.deepEqual([apiVersion, kind, [...message]], ['v1', 'Node', [8, 1]]);
  });

  it('accepts a body without type', () => {
    const { apiVersion, kind, message } = openEnvelope(Buffer.from('6b3873001200', 'hex'));
    assert.deepEqual([apiVersion, kind, message.length], ['', '', 0]);
  });

  const refused: Readonly<Record<string, readonly [hex: string, why: string]>> = {
    'no bytes': ['', 'empty data'],
    'nothing after the prefix': ['6b387300', 'empty body'],
    JSON: [
      '7b7d',
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    'a length beyond the end': ['6b3873000a05', 'unexpected EOF'],
    'a number for the type': ['6b3873000801', 'proto: wrong wireType = 0 for field TypeMeta'],
    'a number for the kind': ['6b3873000a021001', 'proto: wrong wireType = 0 for field Kind'],
  };
  for (const [name, [hex, why]] of Object.entries(refused)) {
    it(`refuses ${name}`, () =>
      assert.throws(() => openEnvelope(Buffer.from(hex, 'hex')), new ProtobufError(why)));
  }
});
