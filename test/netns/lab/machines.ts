// Machines as network namespaces on one link, and the program's commands running on them. All of it ends with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createNamespace, insideNamespace } from '../../../src/host/namespaces.ts';
import { openNetlink } from '../../../src/host/netlink/netlink.ts';
import { addAddress } from '../../../src/host/netlink/route-addresses.ts';
import { addLink, changeLink } from '../../../src/host/netlink/route-links.ts';

export type Machine = {
  readonly ip: string;
  /** Of its namespace. */
  readonly path: string;
  /** Resolves when a line has come that holds the words. */
  readonly start: (line: string, words: string) => Promise<Running>;
  /** The same with a program that is not ours. */
  readonly startProgram: (
    program: string,
    args: readonly string[],
    words: string,
  ) => Promise<Running>;
  /** Runs to its end; what it wrote. Throws when it failed. */
  readonly run: (line: string) => Promise<string>;
};

export type Running = {
  /** Resolves when so many lines have come that hold the words. */
  readonly says: (words: string, times?: number) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** As a power cut. */
  readonly kill: () => Promise<void>;
};

export type Machines = {
  /** For files of all of them. */
  readonly directory: string;
  readonly add: (number: number) => Promise<Machine>;
};

const program = fileURLToPath(new URL('./program.js', import.meta.url));

export async function startMachines(t: TestContext): Promise<Machines> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-machines-'));
  const cleanups: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
  t.after(async () => {
    for (const clean of cleanups.reverse()) await clean();
  });
  const namespace = (): string => {
    const { path, release } = createNamespace();
    cleanups.push(release);
    return path;
  };
  const lan = await openNetlink({ protocol: 'route', namespacePath: namespace() });
  cleanups.push(lan.close);
  await addLink(lan, { kind: 'bridge', name: 'lan' });
  await changeLink(lan, 'lan', { isUp: true });
  return {
    directory,
    async add(number) {
      const path = namespace();
      const ip = `172.31.0.${number}`;
      const link = `machine-${number}`;
      await addLink(lan, { kind: 'veth', name: link, peer: { name: 'eth0', namespacePath: path } });
      await changeLink(lan, link, { master: 'lan', isUp: true });
      const inside = await openNetlink({ protocol: 'route', namespacePath: path });
      await changeLink(inside, 'lo', { isUp: true });
      await changeLink(inside, 'eth0', { isUp: true });
      // All of 172.16.0.0/12 and 10.0.0.0/8 is on the link as far as routes go: what has no owner is for proxies.
      await addAddress(inside, { interface: 'eth0', address: `${ip}/16` });
      await addAddress(inside, { interface: 'eth0', address: `10.255.0.${number}/8` });
      await inside.close();
      const launchProgram = (name: string, args: readonly string[]): ChildProcess =>
        insideNamespace(path, () =>
          spawn(name, args, {
            cwd: directory,
            stdio: ['ignore', 'pipe', 'pipe'],
            env: { PATH: process.env.PATH ?? '' },
          }),
        );
      const launch = (line: string): ChildProcess =>
        launchProgram(process.execPath, [program, ...line.split(' ')]);
      const follow = async (child: ChildProcess, line: string, words: string): Promise<Running> => {
        const running = followOutput(child, line);
        cleanups.push(running.stop);
        await running.says(words);
        return running;
      };
      return {
        ip,
        path,
        start: (line, words) => follow(launch(line), line, words),
        startProgram: (name, args, words) => follow(launchProgram(name, args), name, words),
        run: (line) => runToEnd(launch(line), line),
      };
    },
  };
}

function followOutput(child: ChildProcess, line: string): Running {
  const seen: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (text) => {
      seen.push(text);
      for (const check of waiting) check();
    });
  }
  child.once('exit', () => {
    for (const check of waiting) check();
  });
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const endWith = async (signal: NodeJS.Signals): Promise<void> => {
    if (hasEnded()) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    says: (words, times = 1) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const isSaid = seen.filter((text) => text.includes(words)).length >= times;
          if (!isSaid && !hasEnded()) return;
          waiting.delete(check);
          if (isSaid) resolve();
          else reject(new Error(`"${line}" ended without "${words}": ${seen.join('\n')}`));
        };
        waiting.add(check);
        check();
      }),
    stop: () => endWith('SIGTERM'),
    kill: () => endWith('SIGKILL'),
  };
}

async function runToEnd(child: ChildProcess, line: string): Promise<string> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => (out += String(chunk)));
  child.stderr?.on('data', (chunk: Buffer) => (err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`"${line}" ended with ${code}: ${err}`);
  return out;
}
