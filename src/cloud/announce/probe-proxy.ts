// Whether this node's proxy carries traffic, as a cloud's balancer would ask it (LBC-16).
import { request } from 'node:http';

/** As long as the wait between two renewals. */
const timeoutMs = 1000;

export function probeProxy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(url, { timeout: timeoutMs, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
    asked.once('close', () => resolve(false));
    asked.end();
  });
}
