// Whether the client of a request has gone.

export type Disconnect = {
  readonly happens: () => void;
  readonly happened: () => boolean;
  readonly signal: () => AbortSignal;
};

/** The signal is made for those who ask: making and ending one costs more than a get, and every request ends. */
export function createDisconnect(): Disconnect {
  let hasHappened = false;
  let controller: AbortController | undefined;
  return {
    happens() {
      hasHappened = true;
      controller?.abort();
    },
    happened: () => hasHappened,
    signal() {
      controller ??= new AbortController();
      if (hasHappened) controller.abort();
      return controller.signal;
    },
  };
}
