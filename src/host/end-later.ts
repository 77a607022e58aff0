// Ends HTTP/2 streams and sessions, but never from a read callback. Node emits data while nghttp2 is parsing, and runs the microtasks
// that wait for it there. A stream that is reset at that point makes Node write at once, which can free the stream that is being
// parsed: memory is corrupted, and the process crashes later at an unrelated place.
import type { Http2Session, Http2Stream } from 'node:http2';

type Endable = { readonly destroy: (reason?: Error) => unknown };

/** Destroys in the next iteration of the event loop: until then the stream looks open, and callers remember that it is not. */
export function endLater(ended: Endable, reason?: Error): void {
  setImmediate(() => ended.destroy(reason));
}

/** Sends RST_STREAM with the code. */
export function resetLater(stream: Http2Stream, code: number): void {
  setImmediate(() => {
    stream.close(code);
    stream.destroy();
  });
}

/** Sends GOAWAY with the code, then closes the connection. */
export function endSessionLater(session: Http2Session, code: number): void {
  setImmediate(() => {
    if (session.destroyed) return;
    session.goaway(code);
    setImmediate(() => session.destroy(undefined, code));
  });
}
