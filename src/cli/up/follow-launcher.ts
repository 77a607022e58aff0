// The inner side of launch.ts: signals come through a descriptor, and when the launcher is gone, so are we.
import { Socket } from 'node:net';
import { controlDescriptor, launcherVariable } from '../launch.ts';

/** The process that people see and send signals to: the launcher, or this one. */
export function visiblePid(env: Readonly<Record<string, string | undefined>>): number {
  return Number(env[launcherVariable] ?? process.pid);
}

export function followLauncher(env: Readonly<Record<string, string | undefined>>): void {
  if (env[launcherVariable] === undefined) return;
  const control = new Socket({ fd: controlDescriptor, readable: true, writable: false });
  control.unref();
  control.on('data', (bytes: Buffer) => {
    for (const name of String(bytes).trim().split('\n')) {
      if (name === 'SIGINT' || name === 'SIGTERM') process.kill(process.pid, name);
    }
  });
  // Its end may come as an error.
  control.on('error', () => {});
  control.on('close', () => process.kill(process.pid, 'SIGTERM'));
}
