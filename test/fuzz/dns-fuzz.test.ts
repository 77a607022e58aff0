// Broken packets, many and seeded, over UDP and TCP: the server answers no more than it may, breaks on none, keeps nothing of them, and
// still knows its names afterwards. FAIRLEAD_DNS_PACKETS says how many (a million when looking for trouble), FAIRLEAD_SEED which.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { ServerAddress } from '../../src/dns/forward/upstream-servers.ts';
import { questionPacket } from '../../src/dns/wire/example.ts';
import { closed } from '../parts/harness/closed.ts';
import { framed, readAnswer } from '../parts/harness/dns-client.ts';
import {
  type DnsHarness,
  serviceObject,
  services,
  sliceObject,
  slices,
  startApi,
  startDnsHarness,
  switchedTransport,
} from '../parts/harness/dns-harness.ts';
import { startUpstream } from '../parts/harness/dns-upstream.ts';
import { createRandom, type Random } from '../parts/harness/random.ts';

const packets = Number(process.env.FAIRLEAD_DNS_PACKETS ?? 20_000);
const seed = Number(process.env.FAIRLEAD_SEED ?? 20_260_101);
/** Sent before the answer to a good question is waited for: less than the kernel holds for us. */
const burst = 100;
/** What may come and go with caches that fill: answers, kept ones and the engine's own. */
const leakBytes = 64 * 1024 * 1024;
const limit = { timeout: 3_600_000 };

const big = 'big.default.svc.cluster.local';
/** By an id of its own: the answer to a broken packet would say nothing about those behind it. */
const good = { name: 'web.default.svc.cluster.local', id: 0xffff };
const seeds: readonly Buffer[] = [
  questionPacket({ name: good.name }),
  questionPacket({ name: big, udpSize: 1232 }),
  questionPacket({ name: `_http._tcp.${big}`, type: 'SRV', udpSize: 4096 }),
  questionPacket({ name: '1.1.1.10.in-addr.arpa', type: 'PTR' }),
  questionPacket({ name: 'www.example.com', type: 'AAAA', udpSize: 512 }),
  questionPacket({ name: 'nope.cluster.local', type: 'ANY' }),
];

async function start(t: TestContext): Promise<DnsHarness> {
  const api = await startApi(t);
  const upstream = await startUpstream(t);
  upstream.say('www.example.com', { addresses: ['192.0.2.1'] });
  const forward = { servers: [upstream.address] };
  const harness = await startDnsHarness(t, switchedTransport(api), { forward });
  await harness.dns.synced;
  const ports = [{ name: 'http', port: 80 }];
  await api.api.post(services, serviceObject('web', { clusterIP: '10.96.7.7', ports }));
  await api.api.post(services, serviceObject('big', { clusterIP: 'None', ports }));
  const many = Array.from({ length: 250 }, (_, index) => `10.1.1.${index + 1}`);
  await api.api.post(slices, sliceObject('big', many));
  await harness.until({ name: big }, ({ lines }) => lines.length > 1);
  return harness;
}

test(`${packets} broken packets over UDP`, limit, async (t) => {
  const { server, status, ask } = await start(t);
  const random = createRandom(seed);
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  // By id: the last packet that was sent under it says how much may come back.
  const most = new Uint16Array(0x10000);
  const tooLarge: string[] = [];
  socket.on('message', (bytes) => {
    const id = bytes.readUInt16BE(0);
    if (bytes.length > (most[id] ?? 0)) tooLarge.push(`${bytes.length} > ${most[id]}`);
  });
  const before = await settle(socket, server, random, most, packets / 10);
  const after = await settle(socket, server, random, most, packets);
  assert.deepEqual(tooLarge, []);
  assert.ok(after - before < leakBytes, `${Math.round((after - before) / 1024)} KiB more`);
  assert.deepEqual((await ask(good)).lines, ['NOERROR aa', '30 A 10.96.7.7']);
  const text = await (await fetch(`http://127.0.0.1:${status.port}/metrics`)).text();
  assert.match(text, /^coredns_panics_total 0$/m);
});

/** Sends that many packets, in bursts; returns the memory of the process afterwards. */
async function settle(
  socket: Socket,
  server: ServerAddress,
  random: Random,
  most: Uint16Array,
  count: number,
): Promise<number> {
  for (let sent = 0; sent < count; sent += burst) {
    for (let index = 0; index < burst; index += 1) {
      const packet = mutate(random);
      if (packet.length >= 2) {
        const id = packet.readUInt16BE(0);
        most[id] = Math.max(most[id] ?? 0, allowed(packet));
      }
      socket.send(packet, server.port, server.host);
    }
    most[good.id] = Math.max(most[good.id] ?? 0, 512);
    await goodAnswer(socket, server);
  }
  return process.memoryUsage().rss;
}

/** The largest reply to a packet: by its own words where they can be read, never more than 4096. */
function allowed(packet: Buffer): number {
  const text = packet.toString('latin1');
  // Mutations move OPT about: any place where one could begin counts.
  let most = 512;
  for (let at = text.indexOf('\0\0\x29'); at >= 0; at = text.indexOf('\0\0\x29', at + 1)) {
    if (at + 5 <= packet.length) most = Math.max(most, packet.readUInt16BE(at + 3));
  }
  return Math.min(most, 4096);
}

async function goodAnswer(socket: Socket, server: ServerAddress): Promise<void> {
  const arrived = new Promise<void>((resolve) => {
    const check = (bytes: Buffer): void => {
      if (bytes.readUInt16BE(0) !== good.id || (bytes[3] ?? 0) % 16 !== 0) return;
      socket.off('message', check);
      resolve();
    };
    socket.on('message', check);
  });
  // Over UDP a packet may be lost: then it is sent again.
  const packet = questionPacket(good);
  socket.send(packet, server.port, server.host);
  const again = setInterval(() => socket.send(packet, server.port, server.host), 500);
  await arrived;
  clearInterval(again);
}

test(`${packets / 10} broken packets over TCP`, limit, async (t) => {
  const { server, ask, status } = await start(t);
  const random = createRandom(seed + 1);
  for (let sent = 0; sent < packets / 10; sent += burst) {
    const frames = Array.from({ length: burst }, () => {
      const frame = framed(mutate(random));
      // Now and then the length lies, and the rest of the connection is noise.
      if (random.below(200) === 0) frame.writeUInt16BE(random.below(0x10000), 0);
      return frame;
    });
    const socket = connect(server.port, server.host);
    const isOver = closed(socket);
    socket.resume();
    socket.end(Buffer.concat(frames));
    await isOver;
  }
  assert.deepEqual((await ask(good)).lines, ['NOERROR aa', '30 A 10.96.7.7']);
  const text = await (await fetch(`http://127.0.0.1:${status.port}/metrics`)).text();
  assert.match(text, /^coredns_panics_total 0$/m);
});

/** A few bytes changed, cut out, doubled or added; sometimes nothing but noise. */
function mutate(random: Random): Buffer {
  if (random.below(50) === 0) return noise(random, random.below(600));
  let packet = Buffer.from(seeds[random.below(seeds.length)] ?? Buffer.alloc(12));
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(packet.length + 1);
    switch (random.below(5)) {
      case 0:
        packet = packet.subarray(0, at);
        break;
      case 1:
        packet = Buffer.concat([
          packet.subarray(0, at),
          noise(random, random.below(20)),
          packet.subarray(at),
        ]);
        break;
      case 2:
        packet = Buffer.concat([packet, packet.subarray(at)]).subarray(0, 1400);
        break;
      default:
        if (at < packet.length) packet[at] = interesting(random);
    }
  }
  return packet;
}

const edges = [0, 1, 2, 41, 63, 64, 0x80, 0xc0, 0xff];

function interesting(random: Random): number {
  return random.below(2) === 0 ? (edges[random.below(edges.length)] ?? 0) : random.below(256);
}

function noise(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

test('replies to broken packets can be read by others', limit, async (t) => {
  const { server } = await start(t);
  const random = createRandom(seed + 2);
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  const unreadable: string[] = [];
  socket.on('message', (bytes) => {
    // A bare header refuses what could not be read, and has no question to check.
    if (bytes.length === 12) return;
    try {
      readAnswer(bytes);
    } catch (error) {
      unreadable.push(String(error));
    }
  });
  for (let sent = 0; sent < 2000; sent += burst) {
    for (let index = 0; index < burst; index += 1) {
      socket.send(mutate(random), server.port, server.host);
    }
    await goodAnswer(socket, server);
  }
  assert.deepEqual(unreadable, []);
});
