// Checks whether this node's proxy is healthy, as the health check of a cloud load balancer would (LBC-16).
import { request } from 'node:http';

/** The interval between two renewals. */
const timeoutMs = 1000;

export function probeProxy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const response = request(url, { timeout: timeoutMs, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    response.once('timeout', () => response.destroy());
    response.once('error', () => resolve(false));
    response.once('close', () => resolve(false));
    response.end();
  });
}
