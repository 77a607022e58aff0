// `fairlead controllers` as a process of its own, for a test that watches it and kills it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../../lanes/running-server.ts';

export type ControllersProcess = {
  /** The identity under which it has led; undefined while it never has. */
  readonly ledAs: () => string | undefined;
  /** The value of a metric as it is scraped now. */
  readonly readMetric: (line: string) => Promise<number | undefined>;
  readonly readHealth: () => Promise<string>;
  /** As nothing in the process can notice. */
  readonly kill: () => Promise<void>;
};

export async function startControllersProcess(
  kubeconfig: string,
  flags: readonly string[],
): Promise<ControllersProcess> {
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin', 'fairlead'),
      ...['controllers', '--kubeconfig', kubeconfig, '--metrics-bind-address', '127.0.0.1:0'],
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += String(chunk);
  });
  const metrics = await metricsUrl(child);
  const read = async (path: string): Promise<string> =>
    (await fetch(new URL(path, metrics))).text();
  return {
    ledAs: () => /"identity":"([^"]+)".*"Became leader"/.exec(log)?.[1],
    async readMetric(line) {
      const found = (await read('/metrics')).split('\n').find((one) => one.startsWith(`${line} `));
      return found === undefined ? undefined : Number(found.slice(line.length + 1));
    },
    readHealth: () => read('/healthz'),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function metricsUrl(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += String(chunk);
      const url = /metrics at (\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error(`Cannot start the controllers: "${text}"`)));
  });
}
