// Reads facts about this machine.
import { readFileSync, statfsSync } from 'node:fs';
import { arch, cpus, networkInterfaces, release, totalmem } from 'node:os';
import type { MachineFacts } from './node-status.ts';

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** `directory` is an existing directory on the file system where pods write. */
export function readMachine(directory: string): MachineFacts {
  const osRelease = readOptionalFile('/etc/os-release');
  return {
    cpus: Math.max(cpus().length, 1),
    memoryBytes: totalmem(),
    diskBytes: diskBytes(directory),
    machineId: readOptionalFile('/etc/machine-id').trim(),
    bootId: readOptionalFile('/proc/sys/kernel/random/boot_id').trim(),
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(osRelease)?.[1] ?? 'Linux',
    architecture: goArchitectures[arch()] ?? arch(),
  };
}

function diskBytes(directory: string): number {
  const { bsize, blocks } = statfsSync(directory);
  return bsize * blocks;
}

/** The first address of each family that is neither loopback nor link-local; loopback if there is none. */
export function readNodeIPs(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const found = (['IPv4', 'IPv6'] as const).flatMap((family) => {
    const first = outside.find((one) => one.family === family);
    return first === undefined ? [] : [first.address];
  });
  return found.length > 0 ? found : ['127.0.0.1'];
}

/** Empty if the file does not exist. */
export function readOptionalFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
