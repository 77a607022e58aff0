// One direction of a connection: socket, pipe, socket. A pipe is borrowed only while bytes are under way, so an idle
// connection holds nothing but its two sockets.
import type { StreamSockets } from '../../../host/stream-sockets.ts';

export type Side = { readonly fd: number; isReadable: boolean; isWritable: boolean };

export type Pipe = { readonly output: number; readonly input: number };

export type Flow = {
  readonly from: Side;
  readonly to: Side;
  pipe?: Pipe | undefined;
  /** Bytes in the pipe. */
  held: number;
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
const mostBytes = 1 << 20;
/** Moves in one turn, so that one busy connection does not keep the others waiting. */
const movesPerTurn = 32;
const pooledPipes = 256;
const wouldBlock = -11;

export function createFlow(from: Side, to: Side): Flow {
  return { from, to, held: 0, isDrained: false, hasEnded: false };
}

export function createPipePool(sockets: StreamSockets): PipePool {
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

type Parts = { readonly sockets: StreamSockets; readonly pipes: PipePool };

export function pump(parts: Parts, flow: Flow): PumpResult {
  for (let turn = 0; turn < movesPerTurn; turn += 1) {
    if (flow.hasEnded) return 'ended';
    const moves = [fill(parts, flow), empty(parts, flow)];
    if (moves.includes('broken')) return 'broken';
    if (flow.held === 0) releasePipe(parts, flow);
    if (flow.isDrained && flow.held === 0) return finish(parts, flow);
    if (!moves.includes('moved')) return 'waiting';
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

function fill({ sockets, pipes }: Parts, flow: Flow): Move {
  if (flow.isDrained || !flow.from.isReadable) return 'nothing';
  flow.pipe ??= pipes.borrow();
  const count = sockets.splice(flow.from.fd, flow.pipe.input, mostBytes);
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
