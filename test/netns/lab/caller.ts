// A pod's program that connects all the time: `caller.js HOST PORT`. Told `begin`, it starts; told `report`, it prints how many
// connections were answered and what went wrong with others; told `hold`, it keeps one connection open and says through whom;
// told `echo`, it sends through that connection and says whether it came back.
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

const [host = '', portText = ''] = process.argv.slice(2);
const target = { host, port: Number(portText) };
/** At once, so that a moment without rules is not missed. */
const callers = 4;
/** Far longer than an answer takes, far shorter than TCP's second try: a lost packet counts. */
const timeoutMs = 700;

let answered = 0;
const failures: string[] = [];
let held: Socket | undefined;

async function callForever(): Promise<void> {
  for (;;) {
    try {
      const socket = await open();
      socket.destroy();
      answered += 1;
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${(error as Error).message}`);
    }
  }
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
      for (let n = 0; n < callers; n += 1) void callForever();
      return 'begun';
    case 'hold': {
      const socket = await open();
      held = socket;
      return socket.backend ?? '';
    }
    case 'echo':
      return echo();
    default:
      return JSON.stringify({ answered, failures });
  }
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
