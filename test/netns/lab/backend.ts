// A pod's program that serves: `backend.js NAME`. Answers each connection with its name and echoes what it gets until the
// client ends it. Told `stop`, it takes no new connections and keeps the old ones; told `start`, it takes them again.
import { createServer } from 'node:net';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';

const [name = ''] = process.argv.slice(2);
const port = 9376;
// Like those who call it.
setPriority(constants.priority.PRIORITY_LOW);
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.write(`${name}\n`);
  socket.pipe(socket);
});

const say = (word: string): void => void process.stdout.write(`${word}\n`);
const start = (word: string): void => {
  if (server.listening) say(word);
  else server.listen(port, '0.0.0.0', () => say(word));
};

createInterface({ input: process.stdin }).on('line', (word) => {
  if (word !== 'stop') return start(word);
  server.close();
  say(word);
});
start('ready');
