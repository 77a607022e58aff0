// What this machine lets containers have: the programs that make their file systems, and the right to make them.
import { accessSync, constants, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type RunCommand, runCommand } from '../../../host/exec.ts';
import type { HostEntry, HostFiles } from './root-plan.ts';
import { type Tools, toolNames } from './start-script.ts';

/** How a container gets a view of its own: as root, as root of a user namespace, or not at all. */
export type Isolation =
  | { readonly kind: 'mounts'; readonly tools: Tools; readonly flags: readonly string[] }
  | { readonly kind: 'none'; readonly why: string };

const mountFlags = ['--mount', '--uts', '--propagation', 'private'] as const;

export async function probeIsolation(run: RunCommand = runCommand): Promise<Isolation> {
  const found = toolNames.map((name) => [name, findProgram(name, process.env.PATH)] as const);
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name);
  if (missing.length > 0)
    return { kind: 'none', why: `programs are missing: ${missing.join(', ')}` };
  const hostname = findProgram('hostname', process.env.PATH);
  const tools = {
    ...(Object.fromEntries(found) as Tools),
    ...(hostname === undefined ? {} : { hostname }),
  };
  let why = '';
  for (const flags of [mountFlags, ['--user', '--map-root-user', ...mountFlags]]) {
    try {
      await run({
        argv: [tools.unshare, ...flags, tools.mount, '-t', 'tmpfs', 'fairlead', '/proc'],
      });
      return { kind: 'mounts', tools, flags };
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
  }
  return { kind: 'none', why };
}

/** As a shell would find it. */
export function findProgram(name: string, path = '', root = '/'): string | undefined {
  const candidates = name.includes('/')
    ? [name]
    : path.split(delimiter).map((at) => join(at, name));
  return candidates.find((candidate) => {
    try {
      const real = join(root, candidate);
      accessSync(real, constants.X_OK);
      return statSync(real).isFile();
    } catch (error) {
      if (isFileError(error)) return false;
      throw error;
    }
  });
}

export const hostFiles: HostFiles = {
  entries: (directory) =>
    readdirSync(directory, { withFileTypes: true }).map((entry): HostEntry => {
      const { name } = entry;
      if (entry.isSymbolicLink()) {
        return { name, kind: 'link', target: readlinkSync(join(directory, name)) };
      }
      return { name, kind: entry.isDirectory() ? 'directory' : 'file' };
    }),
  resolve: (path) => quietly(() => realpathSync(path)),
  isDirectory: (path) => quietly(() => statSync(path).isDirectory()) ?? false,
};

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
