// What this machine is.
import { readFileSync, statfsSync } from 'node:fs';
import { arch, cpus, networkInterfaces, release, totalmem } from 'node:os';
import type { MachineFacts } from './node-status.ts';

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** `directory` is where pods write, and is there. */
export function probeMachine(directory: string): MachineFacts {
  const osRelease = readIfThere('/etc/os-release');
  return {
    cpus: Math.max(cpus().length, 1),
    memoryBytes: totalmem(),
    diskBytes: diskBytes(directory),
    machineId: readIfThere('/etc/machine-id').trim(),
    bootId: readIfThere('/proc/sys/kernel/random/boot_id').trim(),
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(osRelease)?.[1] ?? 'Linux',
    architecture: goArchitectures[arch()] ?? arch(),
  };
}

function diskBytes(directory: string): number {
  const { bsize, blocks } = statfsSync(directory);
  return bsize * blocks;
}

/** One address of each family, the first that is no loopback; loopback where there is nothing else. */
export function probeNodeIPs(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const found = (['IPv4', 'IPv6'] as const).flatMap((family) => {
    const first = outside.find((one) => one.family === family);
    return first === undefined ? [] : [first.address];
  });
  return found.length > 0 ? found : ['127.0.0.1'];
}

export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
