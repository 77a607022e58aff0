// The clients of the abuse row. Good and bad ones run in processes of their own, so that the bad ones do not delay the
// clocks of the good ones.
import { on, once } from 'node:events';
import { setTimeout as passed } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import {
  type AbusePlan,
  type AbuseResult,
  garbagePauseMs,
  pipelined,
  sipBytes,
  sipPauseMs,
} from './abuse-plan.ts';
import { openClient, openTls, prepare } from './client.ts';
import { serviceName, servicesPath } from './objects.ts';

process.once('disconnect', () => process.exit());
const [plan] = (await once(process, 'message')) as [AbusePlan];
const end = { at: 0 };
const latencies: number[] = [];
const nothing = { failures: 0, connections: 0, pieces: 0 };
const done = { ...nothing };

const clients = await Promise.all(
  Array.from({ length: plan.good }, () => openClient(plan.target, 'http/1.1')),
);
async function work(seconds: number): Promise<AbuseResult> {
  end.at = performance.now() + seconds * 1000;
  latencies.length = 0;
  Object.assign(done, nothing);
  await Promise.all([
    ...clients.map((_, at) => beGood(at)),
    ...Array.from({ length: plan.slow }, () => readSlowly()),
    ...Array.from({ length: plan.garbage }, (_, at) => sendGarbage(at)),
  ]);
  return { latencies: Float64Array.from(latencies), ...done };
}

const isOver = (): boolean => performance.now() >= end.at;

async function beGood(number: number): Promise<void> {
  // Not all at once.
  await passed((number / plan.good) * plan.goodPauseMs);
  for (let round = 0; !isOver(); round += 1) {
    const name = serviceName((number + round) % plan.services);
    const prepared = prepare({ method: 'GET', path: `${servicesPath}/${name}` }, 'http/1.1');
    const begin = performance.now();
    const answer = await clients[number]?.send(prepared).catch(() => undefined);
    latencies.push(performance.now() - begin);
    if (answer?.status !== 200) done.failures += 1;
    // The server closes connections on which nothing was asked for long, as before the start of a slow run.
    if (answer === undefined) clients[number] = await openClient(plan.target, 'http/1.1');
    await passed(plan.goodPauseMs);
  }
}

/** Absent when the server would not have it. */
async function openBad(): Promise<TLSSocket | undefined> {
  const socket = await openTls(plan.target, 'http/1.1').catch(() => undefined);
  done.connections += 1;
  return socket?.on('error', () => {});
}

const isOpen = (socket: TLSSocket | undefined): boolean => socket?.closed === false;

/** Asks for much and takes little; comes back when it is cut off. */
async function readSlowly(): Promise<void> {
  const head = `GET ${servicesPath} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n`;
  while (!isOver()) {
    const socket = await openBad();
    socket?.pause();
    socket?.write(head.repeat(pipelined));
    while (isOpen(socket) && !isOver()) {
      socket?.read(sipBytes);
      await passed(sipPauseMs);
    }
    socket?.destroy();
    await passed(sipPauseMs);
  }
}

const request = (line: string, body = '', more = ''): string =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;

/** Of those that leave the connection in order, and those that do not. */
const pieces: readonly string[] = [
  request(`POST ${servicesPath}`, '{"metadata":'),
  request(`POST ${servicesPath}`, '{"kind":"Nonsense","apiVersion":"v9"}'),
  request(`PATCH ${servicesPath}/${serviceName(0)}`, '[[[['),
  request('GET /%zz/%00/../../etc/passwd'),
  request(`GET ${servicesPath}?labelSelector=%3D%3D%3D&limit=-1&continue=%ff`),
  request('GET /api', '', `X-Long: ${'y'.repeat(100_000)}\r\n`),
  'this is no request at all\r\n\r\n',
  `POST ${servicesPath} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n{`,
  'GET / HTTP/9.9\r\n\r\n',
  String.fromCharCode(...Array.from({ length: 64 }, (_, at) => (at * 37) % 256)),
];

async function sendGarbage(number: number): Promise<void> {
  for (let round = number; !isOver(); ) {
    const socket = await openBad();
    socket?.resume();
    for (; isOpen(socket) && !isOver(); round += 1) {
      done.pieces += 1;
      socket?.write(pieces[round % pieces.length] ?? '', 'latin1');
      await passed(garbagePauseMs);
    }
    socket?.destroy();
    if (socket === undefined) await passed(garbagePauseMs);
  }
}

process.send?.('connected');
// One after the other, on the same connections of the good ones.
for await (const [seconds] of on(process, 'message') as AsyncIterable<[number]>) {
  process.send?.(await work(seconds));
}
