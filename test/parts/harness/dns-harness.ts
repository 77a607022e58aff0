// Starts cluster DNS and an API server for a test.
import type { TestContext } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { Transport } from '../../../src/client/transport.ts';
import type { ServerAddress } from '../../../src/dns/forward/upstream-servers.ts';
import { type DnsOptions, type RunningDns, startDns } from '../../../src/dns/run.ts';
import type { QuestionText } from '../../../src/dns/wire/example.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { askUdp, type DnsAnswer } from './dns-client.ts';
import { type MemoryServer, startMemoryServer } from './memory-server.ts';

export type DnsHarness = {
  readonly dns: RunningDns;
  readonly server: ServerAddress;
  readonly status: ServerAddress;
  readonly ask: (question: QuestionText) => Promise<DnsAnswer>;
  /** Queries until the answer is as expected; the timeout of the test limits it. */
  readonly until: (question: QuestionText, holds: (answer: DnsAnswer) => boolean) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export const loopback: ServerAddress = { host: '127.0.0.1', port: 0 };

export async function startDnsHarness(
  t: TestContext,
  transport: Transport,
  options: Partial<DnsOptions> = {},
): Promise<DnsHarness> {
  const ending = new AbortController();
  const dns = await startDns({
    transport,
    log: silentLog,
    signal: ending.signal,
    listen: [loopback],
    domain: '\x07cluster\x05local\0',
    ttl: 30,
    pods: 'insecure',
    forward: { servers: [] },
    cacheSeconds: 30,
    status: [loopback],
    ...options,
  });
  const [server = loopback] = dns.addresses;
  const [status = loopback] = dns.statusAddresses;
  const stop = async (): Promise<void> => {
    ending.abort();
    await dns.ended;
  };
  t.after(stop);
  const ask = (question: QuestionText): Promise<DnsAnswer> => askUdp(server, question);
  return {
    dns,
    server,
    status,
    ask,
    async until(question, holds) {
      while (!holds(await ask(question)));
    },
    stop,
  };
}

export async function startApi(t: TestContext): Promise<MemoryServer> {
  const server = await startMemoryServer();
  t.after(server.stop);
  return server;
}

export type SwitchedTransport = Transport & {
  /** Connects to another server, or to none. Open watches fail. */
  readonly use: (server: MemoryServer | undefined) => void;
};

/** A transport to the API server that can be disconnected and reconnected. */
export function switchedTransport(first: MemoryServer | undefined): SwitchedTransport {
  const callTo = (server: MemoryServer): Transport['send'] =>
    createLocalCall(server.server.handle, { user: 'dns', groups: ['system:masters'] });
  let send = first === undefined ? undefined : callTo(first);
  let cut = new AbortController();
  return {
    use(server) {
      send = server === undefined ? undefined : callTo(server);
      cut.abort();
      cut = new AbortController();
    },
    async send(request) {
      if (send === undefined) throw new Error('connect ECONNREFUSED');
      const { signal } = cut;
      const both =
        request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]);
      const response = await send({ ...request, signal: both });
      return { ...response, body: broken(response.body, signal) };
    },
    close: () => Promise.resolve(),
  };
}

async function* broken(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    if (signal.aborted) break;
    yield chunk;
  }
  if (signal.aborted) throw new Error('socket hang up');
}

export function serviceObject(name: string, spec: object): object {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
}

export function sliceObject(service: string, addresses: readonly string[]): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${service}-x`, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
  };
}

export const services = '/api/v1/namespaces/default/services';
export const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
