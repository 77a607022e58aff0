// A transport that records whether the API server is reachable.
import type { Transport } from '../client/transport.ts';
import type { Clock } from '../host/clock.ts';

export type Contact = {
  readonly isConnected: boolean;
  /** When the server last sent anything, in milliseconds; 0 for never. */
  readonly lastMs: number;
};

export type ObservedTransport = {
  readonly transport: Transport;
  readonly contact: () => Contact;
};

export function observeTransport(
  transport: Transport,
  { clock, changed }: { readonly clock: Clock; readonly changed: (isConnected: boolean) => void },
): ObservedTransport {
  let contact: Contact = { isConnected: false, lastMs: 0 };
  let hasSpoken = false;
  const note = (isConnected: boolean): void => {
    const before = contact;
    contact = { isConnected, lastMs: isConnected ? clock.now() : before.lastMs };
    if (before.isConnected !== isConnected || !hasSpoken) changed(isConnected);
    hasSpoken = true;
  };
  async function* observed(body: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
    try {
      for await (const chunk of body) {
        note(true);
        yield chunk;
      }
    } catch (error) {
      if (signal?.aborted !== true) note(false);
      throw error;
    }
  }
  return {
    contact: () => contact,
    transport: {
      ...transport,
      async send(request) {
        try {
          const response = await transport.send(request);
          note(true);
          return { ...response, body: observed(response.body, request.signal) };
        } catch (error) {
          if (request.signal?.aborted !== true) note(false);
          throw error;
        }
      },
    },
  };
}
