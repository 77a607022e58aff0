// A client on the lan, told what to do by lines of JSON on its input: `visit` connects once and says what it was answered; `hold`
// keeps connections open; `echo` says how many of them still carry anything; `begin` connects all the time from then on, and
// `report` says how long it went without an answer at most; `check` asks over HTTP and says the status.
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

type Order = {
  readonly do: 'visit' | 'hold' | 'echo' | 'begin' | 'report' | 'check';
  readonly host: string;
  readonly port: number;
  readonly count?: number;
};

/** Of one try, while something may be broken: short, so that the end of it is noticed. */
const shortMs = 200;
/** Where it should work, and a machine may be busy. */
const longMs = 5000;

const held: Socket[] = [];
const gaps = { last: 0, longest: 0, answered: 0, failed: 0 };

function open(
  { host, port }: Order,
  timeoutMs: number,
): Promise<{ readonly socket: Socket; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), timeoutMs);
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once('data', (data: Buffer) => {
      clearTimeout(timer);
      resolve({ socket, text: String(data).trim() });
    });
  });
}

async function visit(order: Order, timeoutMs: number): Promise<string> {
  try {
    const { socket, text } = await open(order, timeoutMs);
    socket.destroy();
    return text;
  } catch (error) {
    return `failed: ${(error as Error).message}`;
  }
}

async function callForever(order: Order): Promise<void> {
  gaps.last = performance.now();
  for (;;) {
    const isAnswered = !(await visit(order, shortMs)).startsWith('failed');
    if (!isAnswered) {
      gaps.failed += 1;
      continue;
    }
    const now = performance.now();
    gaps.longest = Math.max(gaps.longest, now - gaps.last);
    gaps.last = now;
    gaps.answered += 1;
    // The rest of the lab needs the machine as well.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function echo(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), longMs);
    const end = (works: boolean): void => {
      clearTimeout(timer);
      resolve(works);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.write('still here');
  });
}

function check({ host, port }: Order): Promise<string> {
  return new Promise((resolve) => {
    get({ host, port, path: '/healthz', agent: false }, (response) => {
      response.resume();
      resolve(String(response.statusCode));
    }).once('error', (error) => resolve(error.message));
  });
}

async function answer(order: Order): Promise<string> {
  switch (order.do) {
    case 'visit':
      return visit(order, longMs);
    case 'check':
      return check(order);
    case 'hold':
      for (let n = 0; n < (order.count ?? 1); n += 1) held.push((await open(order, longMs)).socket);
      return String(held.length);
    case 'echo':
      return String((await Promise.all(held.map(echo))).filter(Boolean).length);
    case 'begin':
      void callForever(order);
      return 'begun';
    case 'report':
      return JSON.stringify(gaps);
  }
}

process.stdout.write('ready\n');
// One order after the other, so that the answers come in the order of the questions.
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${await answer(JSON.parse(line) as Order)}\n`);
