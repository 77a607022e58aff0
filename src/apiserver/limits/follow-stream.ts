// Counts a body that goes on, from when it starts until it ends.

import type { User } from '../access/user.ts';
import { type ApiResponse, isStream, isTunnel, type Sink, type Tunnel } from '../message.ts';
import type { RouteMetrics } from '../metrics.ts';

export type Followed = {
  readonly route: RouteMetrics;
  /** Of watches: whose it is, and whom to tell. */
  readonly opened?: (user: string) => () => void;
  readonly user?: User;
};

export function followStream(response: ApiResponse, followed: Followed): ApiResponse {
  const { body } = response;
  if (isTunnel(body)) return { ...response, body: followTunnel(body, followed) };
  if (!isStream(body)) return response;
  const { route, opened, user } = followed;
  return {
    ...response,
    body: {
      start(sink) {
        const closed = user === undefined ? undefined : opened?.(user.name);
        route.longRunning.value += 1;
        sink.onClose(() => {
          route.longRunning.value -= 1;
          closed?.();
        });
        body.start(opened === undefined ? sink : countingEvents(sink, route));
      },
    },
  };
}

/** A watch writes one event at a time. */
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
