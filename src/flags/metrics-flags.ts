// The address of the status server of a part that runs alone.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseAddress } from '../ip/address.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import { reportMetrics, reportOk, serveStatus } from '../observe/serve-status.ts';
import { UsageError } from './command.ts';

export type MetricsFlags = { readonly metricsBindAddress: ListenAddress | 'none' };

export type ListenAddress = { readonly host: string; readonly port: number };

export function addMetricsFlag(command: Command, usual: string): Command {
  const meaning =
    'IP address and port that serve /metrics and /healthz over HTTP. Empty disables them';
  const option = new Option('--metrics-bind-address <address>', meaning);
  return command.addOption(option.argParser(addressOrNone).default(addressOrNone(usual), usual));
}

/** Commander treats undefined as a parser's failure, so 'none' stands for no address. */
const addressOrNone = (text: string): ListenAddress | 'none' => listenAddress(text) ?? 'none';

/** `127.0.0.1:10257` or `[::1]:10257`; port 0 selects a free one. */
export function listenAddress(text: string): ListenAddress | undefined {
  if (text === '') return undefined;
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const isAddress = parseAddress(host)?.family === (bracketed === undefined ? 'IPv4' : 'IPv6');
  const port = Number(digits);
  if (isAddress && digits !== '' && port <= 65535) return { host, port };
  throw new InvalidArgumentError(
    `"${text}" is not an IP and port; it must be like 127.0.0.1:10257 or [::1]:10257.`,
  );
}

const healthRoutes = { '/healthz': reportOk, '/livez': reportOk, '/readyz': reportOk };

export type ServedMetrics = {
  /** Absent when nothing is served. */
  readonly url?: string;
  readonly stop: () => Promise<void>;
};

export async function serveMetrics(
  { metricsBindAddress }: MetricsFlags,
  metrics: MetricsRegistry,
): Promise<ServedMetrics> {
  if (metricsBindAddress === 'none') return { stop: () => Promise.resolve() };
  const { host, port } = metricsBindAddress;
  metrics.gaugeFrom({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () =>
    process.memoryUsage.rss(),
  );
  metrics.gaugeFrom({ name: 'process_cpu_seconds_total', help: 'CPU time used.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  try {
    const routes = { ...healthRoutes, '/metrics': reportMetrics(metrics.text) };
    const server = await serveStatus({ host, port, routes });
    const shown = host.includes(':') ? `[${host}]` : host;
    return { url: `http://${shown}:${server.port}/metrics`, stop: server.close };
  } catch (error) {
    throw new UsageError(
      `Cannot serve metrics on ${host}:${port}: ${(error as Error).message}. Choose another with --metrics-bind-address.`,
    );
  }
}
