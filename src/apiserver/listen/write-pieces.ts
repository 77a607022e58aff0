// Large answers, piece by piece: the next piece of one is encrypted when its client has taken the last, and one piece of
// all in each turn of the event loop. Other clients' requests come between, and who does not read costs no more than
// the first piece.
import { createHandshakeQueue } from '../limits/handshake-queue.ts';

/** What one piece costs is a tenth of a millisecond. Larger ones cost as much in all, and who does not read holds one. */
const pieceBytes = 64 * 1024;

export type PieceOutlet = {
  readonly destroyed: boolean;
  readonly write: (piece: Uint8Array) => boolean;
  readonly end: (piece: Uint8Array) => unknown;
  readonly once: (event: 'drain', listener: () => void) => unknown;
};

/** Writes the body to its end. Returns how to learn how many bytes have not been handed over yet. */
export type PieceWriter = (outlet: PieceOutlet, body: Uint8Array) => () => number;

export function createPieceWriter(): PieceWriter {
  const turns = createHandshakeQueue();
  return (outlet, body) => {
    let at = 0;
    const write = (): void => {
      if (outlet.destroyed) return;
      const piece = body.subarray(at, at + pieceBytes);
      at += piece.length;
      if (at === body.length) outlet.end(piece);
      else if (outlet.write(piece)) turns(write);
      else outlet.once('drain', () => turns(write));
    };
    // The first as well: a crowd that asks for large answers at once would have them all begun in one turn.
    turns(write);
    return () => body.length - at;
  };
}
