// Starts the controllers as a process of their own, for the server that was started in the same directory.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { end } from './binary.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export type ControllersBinary = { readonly pid: number; readonly stop: () => Promise<void> };

export function startControllersBinary(directory: string): ControllersBinary {
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin', 'fairlead'),
      ...['controllers', '--kubeconfig', join(directory, 'kubeconfig'), '--no-leader-elect'],
      // The nodes of a benchmark have no agents.
      ...['--node-startup-grace-period', '24h', '--metrics-bind-address', '127.0.0.1:0'],
      ...['--log-level', 'warn'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return { pid: child.pid ?? 0, stop: () => end(child) };
}
