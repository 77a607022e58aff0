// Runs inside of a network namespace of its own whose resolver configuration names this server: an API server, cluster DNS on port 53,
// and then the programs of the machine, one by one. Prints what each said, as JSON.
import { execFile } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import {
  serviceObject,
  services,
  sliceObject,
  slices,
  startDnsHarness,
  switchedTransport,
} from '../parts/harness/dns-harness.ts';
import { startUpstream } from '../parts/harness/dns-upstream.ts';
import { startMemoryServer } from '../parts/harness/memory-server.ts';

const run = promisify(execFile);
const ends: (() => unknown)[] = [];
const context = { after: (end: () => unknown) => void ends.push(end) } as TestContext;

const commands = JSON.parse(process.argv[2] ?? '[]') as readonly (readonly string[])[];

const api = await startMemoryServer();
ends.push(api.stop);
const upstream = await startUpstream(context);
upstream.say('www.example.com', { addresses: ['192.0.2.1'] });
const { dns, until } = await startDnsHarness(context, switchedTransport(api), {
  listen: [{ host: '127.0.0.1', port: 53 }],
  forward: { servers: [upstream.address] },
});
await dns.synced;
const ports = [{ name: 'http', port: 80 }];
await api.api.post(services, serviceObject('web', { clusterIP: '10.96.7.7', ports }));
await api.api.post(services, serviceObject('big', { clusterIP: 'None', ports }));
const many = Array.from({ length: 90 }, (_, index) => `10.1.1.${index + 1}`);
await api.api.post(slices, sliceObject('big', many));
await until({ name: 'big.default.svc.cluster.local' }, ({ lines }) => lines.length > 1);
upstream.queries.length = 0;

const said: Record<string, string> = {};
for (const [program = '', ...args] of commands) {
  const { stdout } = await run(program, args).catch((error: { readonly stdout?: string }) => ({
    stdout: `failed: ${error.stdout ?? String(error)}`,
  }));
  said[[program.split('/').at(-1), ...args].join(' ')] = stdout.trim();
}
const resolver = new Resolver();
const full = 'web.default.svc.cluster.local';
said['node resolve4'] = JSON.stringify(await resolver.resolve4(full));
said['node resolveSrv'] = JSON.stringify(await resolver.resolveSrv(`_http._tcp.${full}`));
said['node reverse'] = JSON.stringify(await resolver.reverse('10.96.7.7'));
said['node big'] = String((await resolver.resolve4('big.default.svc.cluster.local')).length);
said.upstream = JSON.stringify([...new Set(upstream.queries)].sort());
process.stdout.write(JSON.stringify(said));
for (const end of ends.reverse()) await end();
