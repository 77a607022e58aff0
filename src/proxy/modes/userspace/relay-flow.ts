// One direction of a connection. Little goes through this process' memory: one call to read, one to write. As soon as much
// comes at once it goes from socket to pipe to socket and is never copied. A pipe is borrowed only while bytes are under way, so
// an idle connection holds nothing but its two sockets.
import type { StreamSockets } from '../../../host/stream-sockets.ts';

export type Side = {
  readonly fd: number;
  isReadable: boolean;
  isWritable: boolean;
  /** The kernel knows that nothing comes after what it holds. */
  isComplete: boolean;
};

export type Pipe = { readonly output: number; readonly input: number };

export type Flow = {
  readonly from: Side;
  readonly to: Side;
  pipe?: Pipe | undefined;
  /** Bytes in the pipe. */
  held: number;
  /** From now on through a pipe. */
  isBulk: boolean;
  /** Read but not written: there was no room. */
  rest?: Buffer | undefined;
  /** The sender has sent all. */
  isDrained: boolean;
  /** The receiver has been told so. */
  hasEnded: boolean;
  /** The other direction. */
  back?: Flow;
};

export type PipePool = {
  readonly borrow: () => Pipe;
  readonly giveBack: (pipe: Pipe) => void;
  /** What is in a flow's pipe is nobody's any more. */
  readonly discard: (flow: Flow) => void;
  readonly close: () => void;
};

/** `waiting`: for one of the sockets. `more`: its share of this turn is used up. */
export type PumpResult = 'waiting' | 'more' | 'ended' | 'broken';

/** A pipe holds 64 KiB unless told otherwise; asking for more takes all there is. */
const maxBytes = 1 << 20;
/** Moves in one turn, so that one busy connection does not keep the others waiting. */
const movesPerTurn = 32;
const pooledPipes = 256;
/** Who sends more at once is carried by pipes, which cost twice the calls and copy nothing. */
const copiedBytes = 16 * 1024;
const wouldBlock = -11;
/** What is being carried right now: each move writes what it has read. */
const passing = Buffer.alloc(copiedBytes);

export function createFlow(from: Side, to: Side): Flow {
  return { from, to, held: 0, isBulk: false, isDrained: false, hasEnded: false };
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
  for (let turn = 0; turn < movesPerTurn; turn += 1) {
    if (flow.hasEnded) return 'ended';
    const move = flow.isBulk ? moveByPipe(parts, flow) : moveByCopy(parts, flow);
    if (move === 'broken') return 'broken';
    if (flow.isDrained && flow.held === 0 && flow.rest === undefined) return finish(parts, flow);
    if (move === 'nothing') return 'waiting';
  }
  return 'more';
}

/** Only this direction: the answer may still be on its way. Where it has come, both sockets are closed anyway. */
function finish({ sockets }: Parts, flow: Flow): PumpResult {
  flow.hasEnded = true;
  if (flow.back?.hasEnded === true) return 'ended';
  return sockets.endWriting(flow.to.fd) < 0 ? 'broken' : 'ended';
}

type Move = 'moved' | 'nothing' | 'broken';

function moveByCopy({ sockets }: Parts, flow: Flow): Move {
  const { from, to } = flow;
  // Nothing is read that cannot be written: the sender is to feel that the receiver is slow.
  if (flow.isDrained || !from.isReadable || !to.isWritable) return 'nothing';
  const count = sockets.receive(from.fd, passing);
  if (count < 0) {
    from.isReadable = false;
    return count === wouldBlock ? 'nothing' : 'broken';
  }
  if (count < passing.length) {
    // All that there was. Should more have come meanwhile, there is another event for it.
    if (count === 0 || from.isComplete) flow.isDrained = true;
    else from.isReadable = false;
  } else flow.isBulk = true;
  if (count === 0) return 'nothing';
  return write(sockets, flow, passing.subarray(0, count));
}

/** What finds no room is kept, and the flow goes on by pipe: this side is the faster one. */
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
    return 'moved';
  }
  if (count !== wouldBlock) return 'broken';
  // With bytes in the pipe it may be the pipe that is full: only an empty one tells that the socket is empty.
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
