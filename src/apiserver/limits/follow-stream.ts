// Counts a streamed body while it is open: a watch, a log, a tunnel.
import type { User } from '../access/user.ts';
import { type ApiResponse, isStream, isTunnel, type Sink, type Tunnel } from '../message.ts';
import type { RouteMetrics } from '../metrics.ts';

export type Followed = {
  readonly route: RouteMetrics;
  /** For watches: counts one for the user, and returns how to end that. Tunnels are counted by their subresource. */
  readonly trackWatch?: (user: string) => () => void;
  readonly user?: User;
};

export function followStream(response: ApiResponse, followed: Followed): ApiResponse {
  const { body } = response;
  if (isTunnel(body)) return { ...response, body: followTunnel(body, followed) };
  if (!isStream(body)) return response;
  const { route, trackWatch, user } = followed;
  return {
    ...response,
    body: {
      start(sink) {
        const untrack = user === undefined ? undefined : trackWatch?.(user.name);
        route.longRunning.value += 1;
        sink.onClose(() => {
          route.longRunning.value -= 1;
          untrack?.();
        });
        body.start(trackWatch === undefined ? sink : countingEvents(sink, route));
      },
    },
  };
}

/** A watch writes each event with one call. */
function countingEvents(sink: Sink, route: RouteMetrics): Sink {
  const events = route.watchEvents;
  return {
    ...sink,
    write(chunk) {
      events.value += 1;
      sink.write(chunk);
    },
  };
}

function followTunnel({ tunnelTo }: Tunnel, { route }: Followed): Tunnel {
  return {
    tunnelTo(client) {
      route.longRunning.value += 1;
      client.once('close', () => {
        route.longRunning.value -= 1;
      });
      tunnelTo(client);
    },
  };
}
