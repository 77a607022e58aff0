// Real datagrams through a translating rule, seen in the kernel's table of connections.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createNamespace, insideNamespace } from '../../src/host/namespaces.ts';
import { openConntrack } from '../../src/host/netlink/conntrack.ts';
import { openNetlink } from '../../src/host/netlink/netlink.ts';
import { addAddress } from '../../src/host/netlink/route-addresses.ts';
import { changeLink } from '../../src/host/netlink/route-links.ts';
import { openNftables } from '../../src/host/nftables/open-nftables.ts';

/** Sends from port 4000 to port 53 of the address, and answers on port 5353, where the rule takes it. */
const exchangeDatagrams = `
  const [type, address] = process.argv.slice(1);
  const { createSocket } = require('node:dgram');
  const server = createSocket(type).bind(5353, address);
  const client = createSocket(type).bind(4000, address);
  server.on('listening', () => client.send('hello', 53, address));
  server.on('message', (message, from) => server.send(message, from.port, from.address));
  client.on('message', () => process.exit(0));
`;

const cases = [
  { family: 'IPv4', table: 'ip', type: 'udp4', address: '10.0.0.1' },
  { family: 'IPv6', table: 'ip6', type: 'udp6', address: 'fd00::1' },
] as const;

for (const { family, table, type, address } of cases) {
  test(`${family}: a translated flow is listed with both directions, and deleted once`, async () => {
    const namespace = createNamespace();
    const { path } = namespace;
    await prepare(path, { table, address });
    const exchanged = insideNamespace(path, () =>
      spawnSync(process.execPath, ['-e', exchangeDatagrams, type, address]),
    );
    assert.equal(exchanged.status, 0);

    const conntrack = await openConntrack({ namespacePath: path });
    const flows = await conntrack.listFlows({ family, protocol: 'UDP' });
    const [flow] = flows;
    assert.ok(flow !== undefined);
    assert.equal(flows.length, 1);
    assert.deepEqual(
      { ...flow, id: 0 },
      {
        family,
        protocol: 'UDP',
        original: { source: address, destination: address, sourcePort: 4000, destinationPort: 53 },
        reply: { source: address, destination: address, sourcePort: 5353, destinationPort: 4000 },
        mark: 0,
        zone: 0,
        id: 0,
      },
    );
    assert.deepEqual(await conntrack.listFlows({ family, protocol: 'TCP' }), []);
    const other = family === 'IPv4' ? 'IPv6' : 'IPv4';
    assert.deepEqual(await conntrack.listFlows({ family: other, protocol: 'UDP' }), []);
    assert.equal(await conntrack.deleteFlow({ ...flow, id: (flow.id ^ 1) >>> 0 }), false);
    assert.equal(await conntrack.deleteFlow(flow), true);
    assert.equal(await conntrack.deleteFlow(flow), false);
    assert.deepEqual(await conntrack.listFlows({ family, protocol: 'UDP' }), []);
    await conntrack.close();
    namespace.release();
  });
}

async function prepare(
  namespacePath: string,
  { table, address }: { readonly table: 'ip' | 'ip6'; readonly address: string },
): Promise<void> {
  const route = await openNetlink({ protocol: 'route', namespacePath });
  await changeLink(route, 'lo', { isUp: true });
  await addAddress(route, { interface: 'lo', address, skipsDuplicateDetection: true });
  await route.close();
  const nftables = await openNftables({ namespacePath, thread: 'caller' });
  await nftables.apply({
    table: { family: table, name: 'translate' },
    operations: [
      { kind: 'add-table' },
      {
        kind: 'add-chain',
        chain: { name: 'output', base: { type: 'nat', hook: 'output', priority: -100 } },
      },
      {
        kind: 'add-rule',
        rule: {
          chain: 'output',
          statements: [
            { kind: 'match-protocol', protocol: 'udp' },
            { kind: 'translate', address, port: 5353 },
          ],
        },
      },
    ],
  });
  await nftables.close();
}
