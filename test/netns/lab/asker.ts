// A program that connects once for each `HOST PORT` on its input and says who answered: the name that a backend says, `closed`
// for a server that speaks TLS and not to us, or the error.
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

function ask(host: string, port: number): Promise<string> {
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
  void ask(host, Number(port)).then((answer) => process.stdout.write(`${answer}\n`));
});
process.stdout.write('ready\n');
