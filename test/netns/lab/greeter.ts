// A pod's program that serves: `greeter.js NAME`. Answers each connection with its name and the address it sees the client at,
// and echoes what it gets.
import { createServer } from 'node:net';

const [name = ''] = process.argv.slice(2);
const port = 9376;

createServer((socket) => {
  socket.on('error', () => {});
  const client = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  socket.write(`${name} ${client}\n`);
  socket.pipe(socket);
}).listen(port, '::', () => void process.stdout.write('ready\n'));
