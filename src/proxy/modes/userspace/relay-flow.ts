// One direction of a connection. Small amounts are copied through this process: one call to read, one to write. Large amounts go
// from socket to pipe to socket by splice and are not copied. A pipe is borrowed only while it has bytes, so that an idle
// connection holds nothing but its two sockets.
import type { StreamSockets } from '../../../host/stream-sockets.ts';

export type Side = {
  readonly fd: number;
  isReadable: boolean;
  isWritable: boolean;
  /** The peer has sent FIN: nothing comes after what is received already. */
  isComplete: boolean;
};

export type Pipe = { readonly output: number; readonly input: number };

export type Flow = {
  readonly from: Side;
  readonly to: Side;
  pipe?: Pipe | undefined;
  /** Bytes in the pipe. */
  held: number;
  /** Uses a pipe from now on. */
  isBulk: boolean;
  /** Read but not written: there was no room. */
  rest?: Buffer | undefined;
  /** All bytes of the sender were read. */
  isDrained: boolean;
  /** FIN was passed on to the receiver. */
  hasEnded: boolean;
  /** Bytes that were read of the sender. */
  moved: number;
  /** The other direction. */
  back?: Flow;
};

export type PipePool = {
  readonly borrow: () => Pipe;
  readonly giveBack: (pipe: Pipe) => void;
  /** Closes the flow's pipe, with the bytes in it. */
  readonly discard: (flow: Flow) => void;
  readonly close: () => void;
};

/** `waiting`: for one of the sockets. `more`: its slice of this iteration is used up. */
export type PumpResult = 'waiting' | 'more' | 'ended' | 'broken';

/** For splice. A pipe has 64 KiB by default, and a larger count takes all there is. */
const maxBytes = 1 << 20;
/** Reads and writes of a connection in one iteration of the loop, for fairness. */
const maxMoves = 32;
const pooledPipes = 256;
/** Larger amounts use pipes, which take twice the calls and copy nothing. */
const copiedBytes = 16 * 1024;
const wouldBlock = -11;
/** Shared by all flows: each move writes what it has read. */
const passing = Buffer.alloc(copiedBytes);

export function createFlow(from: Side, to: Side): Flow {
  return { from, to, held: 0, isBulk: false, isDrained: false, hasEnded: false, moved: 0 };
}

export function createPipePool(sockets: Pick<StreamSockets, 'pipe' | 'close'>): PipePool {
  const idle: Pipe[] = [];
  const close = ({ output, input }: Pipe): void => {
    sockets.close(output);
    sockets.close(input);
  };
  return {
    borrow: () => idle.pop() ?? sockets.pipe(),
    giveBack(pipe) {
      if (idle.length < pooledPipes) idle.push(pipe);
      else close(pipe);
    },
    discard(flow) {
      if (flow.pipe !== undefined) close(flow.pipe);
      flow.pipe = undefined;
    },
    close: () => idle.splice(0).forEach(close),
  };
}

type FlowSockets = Pick<StreamSockets, 'receive' | 'send' | 'splice' | 'endWriting'>;
type Parts = { readonly sockets: FlowSockets; readonly pipes: PipePool };

export function pump(parts: Parts, flow: Flow): PumpResult {
  for (let moves = 0; moves < maxMoves; moves += 1) {
    if (flow.hasEnded) return 'ended';
    const move = flow.isBulk ? moveByPipe(parts, flow) : moveByCopy(parts, flow);
    if (move === 'broken') return 'broken';
    if (flow.isDrained && flow.held === 0 && flow.rest === undefined) return finish(parts, flow);
    if (move === 'nothing') return 'waiting';
  }
  return 'more';
}

/** Half-closes: the other direction may still be open. If it has ended, both sockets are closed anyway. */
function finish({ sockets }: Parts, flow: Flow): PumpResult {
  flow.hasEnded = true;
  if (flow.back?.hasEnded === true) return 'ended';
  return sockets.endWriting(flow.to.fd) < 0 ? 'broken' : 'ended';
}

type Move = 'moved' | 'nothing' | 'broken';

function moveByCopy({ sockets }: Parts, flow: Flow): Move {
  const { from, to } = flow;
  // Back-pressure: nothing is read that cannot be written.
  if (flow.isDrained || !from.isReadable || !to.isWritable) return 'nothing';
  const count = sockets.receive(from.fd, passing);
  if (count < 0) {
    from.isReadable = false;
    return count === wouldBlock ? 'nothing' : 'broken';
  }
  if (count < passing.length) {
    // The receive buffer is empty. If more has arrived meanwhile, there is another event for it.
    if (count === 0 || from.isComplete) flow.isDrained = true;
    else from.isReadable = false;
  } else flow.isBulk = true;
  if (count === 0) return 'nothing';
  flow.moved += count;
  return write(sockets, flow, passing.subarray(0, count));
}

/** What does not fit is buffered, and the flow continues by pipe: the sender is faster than the receiver. */
function write(sockets: FlowSockets, flow: Flow, bytes: Buffer): Move {
  const count = sockets.send(flow.to.fd, bytes, bytes.length);
  if (count < 0 && count !== wouldBlock) return 'broken';
  if (count === bytes.length) {
    flow.rest = undefined;
    return 'moved';
  }
  flow.rest = Buffer.from(bytes.subarray(Math.max(count, 0)));
  flow.isBulk = true;
  flow.to.isWritable = false;
  return 'nothing';
}

function moveByPipe(parts: Parts, flow: Flow): Move {
  if (flow.rest !== undefined) {
    return flow.to.isWritable ? write(parts.sockets, flow, flow.rest) : 'nothing';
  }
  const filled = fill(parts, flow);
  const emptied = filled === 'broken' ? filled : empty(parts, flow);
  if (emptied === 'broken') return 'broken';
  if (flow.held === 0) releasePipe(parts, flow);
  return filled === 'moved' ? filled : emptied;
}

function fill({ sockets, pipes }: Parts, flow: Flow): Move {
  if (flow.isDrained || !flow.from.isReadable) return 'nothing';
  flow.pipe ??= pipes.borrow();
  const count = sockets.splice(flow.from.fd, flow.pipe.input, maxBytes);
  if (count === 0) {
    flow.isDrained = true;
    return 'nothing';
  }
  if (count > 0) {
    flow.held += count;
    flow.moved += count;
    return 'moved';
  }
  if (count !== wouldBlock) return 'broken';
  // With bytes in the pipe EAGAIN may mean that the pipe is full. With an empty pipe, the socket is.
  if (flow.held === 0) flow.from.isReadable = false;
  return 'nothing';
}

function empty({ sockets }: Parts, flow: Flow): Move {
  if (flow.pipe === undefined || flow.held === 0 || !flow.to.isWritable) return 'nothing';
  const count = sockets.splice(flow.pipe.output, flow.to.fd, flow.held);
  if (count > 0) {
    flow.held -= count;
    return 'moved';
  }
  if (count !== wouldBlock) return 'broken';
  flow.to.isWritable = false;
  return 'nothing';
}

function releasePipe({ pipes }: Parts, flow: Flow): void {
  if (flow.pipe !== undefined) pipes.giveBack(flow.pipe);
  flow.pipe = undefined;
}
