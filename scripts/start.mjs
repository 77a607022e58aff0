// `npm start -- FLAGS`: prepares the clone, then runs `fairlead up FLAGS` in a process of its own.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

prepare();
const args = [join(root, 'bin', 'fairlead'), 'up', ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
// Ctrl-C reaches both from the terminal, and a second one would end the server at once; SIGTERM is handed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
