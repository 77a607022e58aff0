// Connections that are opened to see whether they get an answer, and closed at once.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { AttemptResult } from './live.ts';
import type { Attempt, ConnectRequest } from './live-request.ts';

/** At the same time: enough for a distribution in little time, and no load. */
const maxAtOnce = 10;
/**
 * After the handshake. Relays and load balancers accept before they know whether a backend does, and some servers speak first: both
 * shows within this time, of the first attempt.
 */
const lingerMs = 250;
const maxBannerBytes = 256;

export async function openConnections(request: ConnectRequest): Promise<readonly Attempt[]> {
  const { protocol, count } = request;
  if (protocol === 'SCTP') return [{ result: 'untried', tookMs: 0, why: 'SCTP cannot be tried' }];
  const open = protocol === 'TCP' ? openTcp : openUdp;
  // The first one alone: its time is that of a connection without others.
  const attempts: Attempt[] = [await open(request, lingerMs)];
  while (attempts.length < count) {
    const size = Math.min(maxAtOnce, count - attempts.length);
    attempts.push(...(await Promise.all(Array.from({ length: size }, () => open(request, 0)))));
  }
  return attempts;
}

/** By the code of a system call. */
const results: Readonly<Record<string, AttemptResult>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
};

function resultOf({ code, message }: NodeJS.ErrnoException): Pick<Attempt, 'result' | 'why'> {
  const result = results[code ?? ''];
  return result === undefined ? { result: 'failed', why: message } : { result };
}

/** Where Linux takes ports of clients from. Chosen here, a port is known also of a connection that fails. */
const clientPorts = { min: 32_768, end: 60_999 };
const maxPortTries = 5;

async function openTcp(request: ConnectRequest, waitMs: number): Promise<Attempt> {
  for (let tries = 1; tries <= maxPortTries; tries += 1) {
    const sourcePort = randomInt(clientPorts.min, clientPorts.end);
    const attempt = await openTcpFrom(sourcePort, request, waitMs);
    // The port is in use.
    if (attempt !== undefined) return attempt;
  }
  return { result: 'failed', tookMs: 0, why: 'no free port was found' };
}

function openTcpFrom(
  sourcePort: number,
  { address, port, timeoutMs }: ConnectRequest,
  waitMs: number,
): Promise<Attempt | undefined> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const socket = connect({ host: address, port, localPort: sourcePort });
    let connectedMs: number | undefined;
    let timer = setTimeout(() => end({ result: 'timeout' }), timeoutMs);
    const end = (how: Pick<Attempt, 'result' | 'why' | 'banner'>): void => {
      clearTimeout(timer);
      socket.destroy();
      const tookMs = Math.round(connectedMs ?? performance.now() - startedAt);
      resolve({ ...how, tookMs, sourcePort });
    };
    socket.on('connect', () => {
      connectedMs = performance.now() - startedAt;
      clearTimeout(timer);
      if (waitMs === 0) end({ result: 'answered' });
      else timer = setTimeout(() => end({ result: 'answered' }), waitMs);
    });
    socket.once('data', (bytes: Buffer) =>
      end({ result: 'answered', banner: bytes.subarray(0, maxBannerBytes).toString('latin1') }),
    );
    socket.on('end', () => end({ result: 'closed' }));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      end(resultOf(error));
    });
  });
}

function openUdp({ address, port, timeoutMs, payload = '' }: ConnectRequest): Promise<Attempt> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    let sourcePort: number | undefined;
    let isOver = false;
    const end = (how: Pick<Attempt, 'result' | 'why' | 'banner'>): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.close();
      const tookMs = Math.round(performance.now() - startedAt);
      resolve({ ...how, tookMs, ...(sourcePort === undefined ? {} : { sourcePort }) });
    };
    const timer = setTimeout(() => end({ result: 'silent' }), timeoutMs);
    socket.on('error', (error) => end(resultOf(error)));
    socket.on('message', () => end({ result: 'answered' }));
    socket.on('connect', () => {
      if (isOver) return;
      sourcePort = socket.address().port;
      socket.send(Buffer.from(payload, 'hex'), (error) => {
        if (error !== null) end(resultOf(error));
      });
    });
    socket.connect(port, address);
  });
}
