import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchBytes, batchSize, createUdpBatch, messageHeaderSize } from './udp-batch.ts';

const base = 0x10_0000n;

test('createUdpBatch() lays out what recvmmsg fills and sendmmsg sends', () => {
  const memory = Buffer.alloc(batchBytes);
  const batch = createUdpBatch(memory, base);
  const at = (pointer: bigint): number => Number(pointer - base);
  // What the kernel would do with the header of the third question.
  const header = 2 * messageHeaderSize;
  const address = at(memory.readBigUInt64LE(header));
  const vector = at(memory.readBigUInt64LE(header + 16));
  const data = at(memory.readBigUInt64LE(vector));
  batch.prepare();
  assert.equal(memory.readUInt32LE(header + 8), 32, 'room for an address');
  memory.write('question', data);
  memory.writeUInt32LE(8, header + 56);
  memory.writeUInt32LE(16, header + 8);
  Buffer.from([2, 0, 0x30, 0x39, 192, 0, 2, 7]).copy(memory, address);
  assert.equal(batch.questions[2]?.toString('latin1', 0, batch.receivedLength(2)), 'question');
  assert.equal(batch.senderAddress(2), '192.0.2.7');
  assert.equal(batch.senderPort(2), 12_345);
  // Its reply is the first to go.
  batch.replies[2]?.write('reply');
  batch.addReply(0, 2, 5);
  const sent = batchSize * messageHeaderSize;
  const sentVector = at(memory.readBigUInt64LE(sent + 16));
  assert.equal(at(memory.readBigUInt64LE(sent)), address, 'to the sender');
  assert.equal(memory.readUInt32LE(sent + 8), 16);
  const sentData = at(memory.readBigUInt64LE(sentVector));
  const length = Number(memory.readBigUInt64LE(sentVector + 8));
  assert.equal(memory.toString('latin1', sentData, sentData + length), 'reply');
});

test('senderAddress() reads IPv6', () => {
  const memory = Buffer.alloc(batchBytes);
  const batch = createUdpBatch(memory, base);
  const address = Number(memory.readBigUInt64LE(0) - base);
  memory.writeUInt16LE(10, address);
  memory.write('fd4400000000000000000000000000ab', address + 8, 'hex');
  assert.equal(batch.senderAddress(0), 'fd44::ab');
});
