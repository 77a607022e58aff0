// `silent-network.js`, in a lab: clients watch an API server that has nothing to say, and then over a network that swallows packets. Says
// what was seen, a line for each case; ends with an error where something else was.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { setTimeout as later } from 'node:timers/promises';
import type { HttpTransport } from '../../src/client/exchange.ts';
import { createHttpTransport } from '../../src/client/http-transport.ts';
import { createHttp1Exchange } from '../../src/client/http1-exchange.ts';
import { startInformer } from '../../src/client/informer.ts';
import { systemClock } from '../../src/host/clock.ts';
import { configMapDefinition } from '../../src/kinds/config-map/definition.ts';
import { silentLog } from '../../src/observe/log.ts';
import { startMemoryServer, testCredentials } from '../parts/harness/memory-server.ts';

const running = await startMemoryServer();
const { port } = running.server.address;
const { authority, administrator } = testCredentials();
const connection = {
  server: `https://127.0.0.1:${port}`,
  namespace: 'default',
  certificateAuthority: authority.certificate,
  clientCertificate: administrator.certificate,
  clientKey: administrator.privateKey,
  skipTlsVerification: false,
};
const limits = {
  ...{ connectMs: 2000, silenceMs: 60_000, idleTimeoutMs: 60_000 },
  ...{ readIdleMs: 100, pingTimeoutMs: 2000 },
};

const nft = (text: string): string =>
  execFileSync('nft', ['-f', '-'], { input: text, encoding: 'utf8' });
nft(`table inet wire {
  counter sent {}
  set lost { type inet_service; }
  chain leaves {
    type filter hook output priority 0;
    tcp dport ${port} counter name sent
    tcp dport @lost drop
    tcp sport @lost drop
  }
}`);
const sent = (): number => {
  const text = execFileSync('nft', ['list', 'counter', 'inet', 'wire', 'sent'], {
    encoding: 'utf8',
  });
  return Number(/packets (\d+)/.exec(text)?.[1]);
};
const cut = (...ports: readonly number[]): string =>
  nft(`add element inet wire lost { ${ports.join(', ')} }`);
const mend = (): string => nft('flush set inet wire lost');

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2400; tries += 1) {
    if (await holds()) return;
    await later(25);
  }
  assert.fail(`did not happen: ${what}`);
}

const maps = '/api/v1/namespaces/default/configmaps';
const make = (name: string) => running.api.post(maps, { metadata: { name } });

/** The local ports of connections to the server. */
function clientPorts(): readonly number[] {
  const text = execFileSync('ss', ['-Htn', 'state', 'established', `dport = :${port}`], {
    encoding: 'utf8',
  });
  return [...text.matchAll(/127\.0\.0\.1:(\d+)\s+127\.0\.0\.1:/g)].map(([, one]) => Number(one));
}

async function tryTransport(name: string, open: () => HttpTransport): Promise<void> {
  const before = new Set(clientPorts());
  const counted = open();
  let watches = 0;
  const transport = {
    ...counted,
    send: (request: Parameters<HttpTransport['send']>[0]) => {
      if (request.path.includes('watch=')) watches += 1;
      return counted.send(request);
    },
  };
  const stop = new AbortController();
  const { store, synced, ended } = startInformer(
    {
      caller: { transport, userAgent: 'test' },
      type: configMapDefinition,
      clock: systemClock,
      log: silentLog,
    },
    stop.signal,
  );
  await synced();
  const [begun, packets] = [watches, sent()];
  await until('pings or questions went out many times', () => sent() > packets + 30);
  await make(`${name}-quiet`);
  await until('an event came', () => store.has(`default/${name}-quiet`));
  assert.equal(watches, begun, 'a silent server was taken for a dead one');
  process.stdout.write(`${name}: a silent server is no dead one\n`);

  cut(port);
  await until('the watch was given up', () => watches > begun);
  mend();
  await make(`${name}-back`);
  await until('the informer went on', () => store.has(`default/${name}-back`));
  process.stdout.write(`${name}: a network that swallows packets is noticed\n`);

  if (name === 'http2') {
    // Only this connection, as when a machine between forgets it: new ones get through.
    const known = watches;
    cut(...clientPorts().filter((one) => !before.has(one)));
    await until('the watch was given up', () => watches > known);
    await make(`${name}-forgotten`);
    await until('the informer went on', () => store.has(`default/${name}-forgotten`));
    mend();
    process.stdout.write(`${name}: a connection that is forgotten on its way is noticed\n`);
  }
  stop.abort();
  await ended;
  await transport.close();
}

await tryTransport('http2', () => createHttpTransport(connection, limits));
await tryTransport('http1', () => createHttp1Exchange({ connection, limits }));
await running.stop();
