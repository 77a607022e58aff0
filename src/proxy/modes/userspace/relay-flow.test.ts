// The turns that real sockets take only when the machine is busy: no room, half the room, an end that is known beforehand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFlow, createPipePool, type Flow, pump } from './relay-flow.ts';

const wouldBlock = -11;
const pipeBytes = 65_536;
const fds = { source: 1, sink: 2, output: 10, input: 11 } as const;

type World = {
  room: number;
  coming: Buffer;
  hasSenderEnded: boolean;
  arrived: Buffer;
  piped: Buffer;
  isReceiverShutDown: boolean;
  reads: number;
};

/** A sender with bytes to come, a receiver with room for some, and one pipe. */
function createWorld(room: number) {
  const world: World = {
    room,
    coming: Buffer.alloc(0),
    hasSenderEnded: false,
    arrived: Buffer.alloc(0),
    piped: Buffer.alloc(0),
    isReceiverShutDown: false,
    reads: 0,
  };
  const take = (most: number): Buffer => {
    const taken = world.coming.subarray(0, most);
    world.coming = world.coming.subarray(taken.length);
    return taken;
  };
  const put = (bytes: Buffer): number => {
    const count = Math.min(bytes.length, world.room);
    world.room -= count;
    world.arrived = Buffer.concat([world.arrived, bytes.subarray(0, count)]);
    return count === 0 ? wouldBlock : count;
  };
  const nothing = (): number => (world.hasSenderEnded ? 0 : wouldBlock);
  const sockets = {
    receive(_: number, bytes: Buffer): number {
      world.reads += 1;
      return take(bytes.length).copy(bytes) || nothing();
    },
    send: (_: number, bytes: Buffer, count: number): number => put(bytes.subarray(0, count)),
    splice(from: number, _: number, count: number): number {
      if (from === fds.source) {
        if (world.piped.length === pipeBytes) return wouldBlock;
        const taken = take(Math.min(count, pipeBytes - world.piped.length));
        world.piped = Buffer.concat([world.piped, taken]);
        return taken.length || nothing();
      }
      const moved = put(world.piped.subarray(0, count));
      world.piped = world.piped.subarray(Math.max(moved, 0));
      return moved;
    },
    endWriting(): number {
      world.isReceiverShutDown = true;
      return 0;
    },
    pipe: () => ({ output: fds.output, input: fds.input }),
    close: () => 0,
  };
  const side = (fd: number) => ({ fd, isReadable: true, isWritable: true, isComplete: false });
  const flow: Flow = createFlow(side(fds.source), side(fds.sink));
  return { world, flow, parts: { sockets, pipes: createPipePool(sockets) } };
}

const bytesOf = (count: number): Buffer =>
  Buffer.from(Uint8Array.from({ length: count }, (_, n) => n % 251));

test('pump() keeps what finds no room, reads no more meanwhile, and goes on with it', () => {
  const { world, flow, parts } = createWorld(4000);
  const sent = bytesOf(30_000);
  world.coming = sent.subarray(0, 10_000);
  assert.equal(pump(parts, flow), 'waiting');
  assert.deepEqual([world.arrived.length, flow.rest?.length], [4000, 6000]);
  world.coming = sent.subarray(10_000);
  flow.from.isReadable = true;
  for (const room of [3000, 2000]) {
    world.room = room;
    flow.to.isWritable = true;
    assert.equal(pump(parts, flow), 'waiting');
    assert.deepEqual([world.room, world.coming.length], [0, 20_000]);
  }
  world.room = 1_000_000;
  flow.to.isWritable = true;
  world.hasSenderEnded = true;
  assert.equal(pump(parts, flow), 'ended');
  assert.ok(world.arrived.equals(sent));
  assert.ok(world.isReceiverShutDown);
});

test('pump() goes over to a pipe when much comes at once', () => {
  const { world, flow, parts } = createWorld(20_000);
  const sent = bytesOf(100_000);
  world.coming = sent;
  assert.equal(pump(parts, flow), 'waiting');
  assert.deepEqual([world.reads, world.arrived.length], [1, 20_000]);
  assert.ok(world.piped.length > 0);
  world.room = 1_000_000;
  flow.to.isWritable = true;
  world.hasSenderEnded = true;
  assert.equal(pump(parts, flow), 'ended');
  assert.ok(world.arrived.equals(sent));
});

test('pump() asks once for a message, and once for a message that the kernel knows to be the last', () => {
  const { world, flow, parts } = createWorld(1000);
  world.coming = bytesOf(10);
  assert.equal(pump(parts, flow), 'waiting');
  assert.deepEqual([world.reads, world.arrived.length], [1, 10]);
  world.coming = bytesOf(5);
  world.hasSenderEnded = true;
  flow.from.isReadable = true;
  flow.from.isComplete = true;
  assert.equal(pump(parts, flow), 'ended');
  assert.deepEqual([world.reads, world.arrived.length], [2, 15]);
});
