// A pod's program that serves: `backend.js NAME`. Answers each connection with its name and echoes what it gets until the
// client ends it. Told `stop`, it takes no new connections and keeps the old ones; told `start`, it takes them again.
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const [name = ''] = process.argv.slice(2);
const port = 9376;
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.write(`${name}\n`);
  socket.pipe(socket);
});

createInterface({ input: process.stdin }).on('line', (word) => {
  if (word === 'stop') server.close();
  else server.listen(port, '0.0.0.0');
  process.stdout.write(`${word}\n`);
});
server.listen(port, '0.0.0.0', () => process.stdout.write('ready\n'));
