// A pod's program that connects all the time: `caller.js HOST PORT`. Told `begin`, it starts; told `report`, it prints how many
// connections were answered and what went wrong with others; told `hold`, it keeps one connection open and says through whom;
// told `echo`, it sends through that connection and says whether it came back; told `pass`, it answers when every connection
// under way has ended and another after it.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';

const [host = '', portText = ''] = process.argv.slice(2);
const target = { host, port: Number(portText) };
/** At once, so that a moment without rules is not missed. */
const callers = 4;
/** A machine that is busy elsewhere is no failure; packets that get lost are counted by the kernel. */
const timeoutMs = 20_000;

// It never rests, and takes only what others leave: on a slow machine the program under test would get nothing done.
setPriority(constants.priority.PRIORITY_LOW);

let answered = 0;
const failures: string[] = [];
let held: Socket | undefined;
/** How many connections each of them has made, and who waits for more. */
const rounds = Array.from({ length: callers }, () => 0);
const waiting = new Set<() => void>();

async function callForever(number: number): Promise<void> {
  for (;;) {
    rounds[number] = (rounds[number] ?? 0) + 1;
    for (const check of waiting) check();
    try {
      const socket = await open();
      socket.destroy();
      answered += 1;
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${(error as Error).message}`);
    }
  }
}

function passRounds(number: number): Promise<void> {
  const until = (rounds[number] ?? 0) + 2;
  return new Promise((resolve) => {
    const check = (): void => {
      if ((rounds[number] ?? 0) < until) return;
      waiting.delete(check);
      resolve();
    };
    waiting.add(check);
  });
}

function open(): Promise<Socket & { backend?: string }> {
  return new Promise((resolve, reject) => {
    const socket: Socket & { backend?: string } = connect(target);
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), timeoutMs);
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once('data', (data: Buffer) => {
      clearTimeout(timer);
      socket.backend = String(data).trim();
      resolve(socket);
    });
  });
}

async function answer(word: string): Promise<string> {
  switch (word) {
    case 'begin':
      for (let n = 0; n < callers; n += 1) void callForever(n);
      return 'begun';
    case 'hold': {
      const socket = await open();
      held = socket;
      return socket.backend ?? '';
    }
    case 'pass':
      await Promise.all(rounds.map((_, n) => passRounds(n)));
      return 'passed';
    case 'echo':
      return echo();
    default:
      return JSON.stringify({ answered, failures: [...failures, ...lost()] });
  }
}

/**
 * A connection whose first packet is dropped comes about all the same, by the second: that counts as well. Later ones do not: a slow
 * machine acknowledges them late, and who sends again then has lost nothing.
 */
function lost(): readonly string[] {
  const first = counted('netstat', 'TcpExt:', 'TCPSynRetrans');
  return first === 0 ? [] : [`${first} first packets sent again`];
}

function counted(file: string, group: string, name: string): number {
  const [names = '', values = ''] = readFileSync(`/proc/self/net/${file}`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(group));
  return Number(values.split(' ')[names.split(' ').indexOf(name)]);
}

function echo(): Promise<string> {
  return new Promise((resolve) => {
    held?.once('data', (data: Buffer) => resolve(String(data)));
    held?.once('error', (error) => resolve(error.message));
    held?.write('still here');
  });
}

createInterface({ input: process.stdin }).on('line', (word) => {
  void answer(word).then((text) => process.stdout.write(`${text}\n`));
});
process.stdout.write('ready\n');
