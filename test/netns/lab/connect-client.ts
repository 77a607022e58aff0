// Connects once for each `HOST PORT` on standard input and prints the result: the name that a backend sends, `closed`
// for a TLS server that closes the connection, or the error.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

function connectTo(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => socket.write('hello\n'));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('close', () => resolve('closed'));
    socket.once('data', (data: Buffer) => {
      resolve(String(data).split('\n')[0] ?? '');
      socket.destroy();
    });
  });
}

createInterface({ input: process.stdin }).on('line', (text) => {
  const [host = '', port = ''] = text.split(' ');
  void connectTo(host, Number(port)).then((answer) => process.stdout.write(`${answer}\n`));
});
process.stdout.write('ready\n');
