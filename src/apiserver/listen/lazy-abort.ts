// Whether the client of a request has disconnected: an AbortController whose signal is created on demand.

export type LazyAbort = {
  readonly abort: () => void;
  readonly isAborted: () => boolean;
  readonly signal: () => AbortSignal;
};

/** Most requests never use the signal, and creating and aborting one costs more than a get. */
export function createLazyAbort(): LazyAbort {
  let isAborted = false;
  let controller: AbortController | undefined;
  return {
    abort() {
      isAborted = true;
      controller?.abort();
    },
    isAborted: () => isAborted,
    signal() {
      controller ??= new AbortController();
      if (isAborted) controller.abort();
      return controller.signal;
    },
  };
}
