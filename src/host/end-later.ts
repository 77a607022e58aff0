// Ends HTTP/2 streams and connections, but never in the middle of reading one. Node hands over what it reads while it is reading it, and so
// runs all that waits for it; a stream that is reset there makes it write at once, which can free the very stream it goes on reading: memory
// is damaged, and the process ends some time later at a place that has nothing to do with it.
import type { Http2Session, Http2Stream } from 'node:http2';

type Endable = { readonly destroy: (reason?: Error) => unknown };

/** It stays as it is until the turn is over: who must know at once that it ends remembers it. */
export function endLater(ended: Endable, reason?: Error): void {
  setImmediate(() => ended.destroy(reason));
}

/** Tells the far end why. */
export function resetLater(stream: Http2Stream, code: number): void {
  setImmediate(() => {
    stream.close(code);
    stream.destroy();
  });
}

/** The far end learns why before the connection goes. */
export function endSessionLater(session: Http2Session, code: number): void {
  setImmediate(() => {
    if (session.destroyed) return;
    session.goaway(code);
    setImmediate(() => session.destroy(undefined, code));
  });
}
