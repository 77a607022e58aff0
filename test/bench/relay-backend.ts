// An endpoint: told a number, it sends as many bytes and ends. `relay-backend.js HOST PORT`.
import { createServer, type Socket } from 'node:net';

const block = Buffer.alloc(256 * 1024, 'x');

function send(socket: Socket, bytes: number): void {
  let left = bytes;
  const next = (): void => {
    while (left > 0) {
      const piece = left < block.length ? block.subarray(0, left) : block;
      left -= piece.length;
      if (!socket.write(piece)) {
        socket.once('drain', next);
        return;
      }
    }
    socket.end();
  };
  next();
}

const [host = '127.0.0.1', port = '0'] = process.argv.slice(2);
createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (requests) => send(socket, Number(String(requests))));
}).listen(Number(port), host, () => process.stdout.write('listening\n'));
