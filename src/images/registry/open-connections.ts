// The connections to registries: a few per host, used again, through the proxy of the environment.
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Connections } from './send-request.ts';

/** Of one registry: three layers, and requests for manifests. */
const maxSockets = 6;
/** Without a byte, as of dockershim's image-pull-progress-deadline. */
const defaultStallMs = 60_000;

export type OpenConnections = Connections & { readonly close: () => void };

export function openConnections({
  stallMs = defaultStallMs,
}: {
  readonly stallMs?: number;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}): OpenConnections {
  const options = { keepAlive: true, maxSockets, timeout: stallMs };
  const http = new HttpAgent(options);
  const https = new HttpsAgent(options);
  return {
    ...{ http, https, stallMs },
    close: () => {
      http.destroy();
      https.destroy();
    },
  };
}
