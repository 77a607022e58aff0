// Commands that explain a cluster, from the shell, with a server that has its objects in memory: `doctor -A` at 10,000 services of ten
// endpoints, beside reading the same objects and keeping nothing; `trace` of one connection there, beside a program that only starts;
// `what-if` of a drained node.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBinary } from './binary.ts';
import { openCluster } from './cluster.ts';
import { nodeName } from './cluster-objects.ts';
import type { Figure } from './figure.ts';
import { fillStore } from './fill-store.ts';
import { median } from './load.ts';
import { serviceName } from './objects.ts';
import type { RowOptions } from './row.ts';

const services = 10_000;
const times = 5;
const root = fileURLToPath(new URL('../../../', import.meta.url));
const program = join(root, 'bin', 'fairlead');

export async function explainRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  await fillStore(directory, services, { isSettled: true });
  const binary = await startBinary({ command: 'apiserver', directory });
  try {
    // It makes the nodes.
    await (await openCluster(binary.target)).close();
    const kubeconfig = join(directory, 'kubeconfig');
    const inside = fileURLToPath(new URL('./download-inside.js', import.meta.url));
    const download = await measured([inside, kubeconfig]);
    const doctor = await measured([program, 'doctor', '-A', '--kubeconfig', kubeconfig]);
    const target = `http://${serviceName(services / 2)}:80`;
    const trace = await measured([program, 'trace', target, '--kubeconfig', kubeconfig]);
    const drain = ['what-if', '--drain', `node/${nodeName(0)}`];
    const whatIf = await measured([program, ...drain, '--kubeconfig', kubeconfig]);
    const bare = await measured([program, 'version']);
    const row = 'explain';
    const what = '10,000 services of 10 endpoints, doctor -A';
    return [
      {
        ...{ row, unit: 's', what, value: doctor.seconds, cpuMicros: doctor.cpuMicros },
        ceiling: { value: download.seconds, cpuMicros: download.cpuMicros },
      },
      {
        ...{ row, unit: 's', goal: 3, value: doctor.seconds - download.seconds },
        what: 'the same beyond the download',
      },
      {
        ...{ row, unit: 'MiB', goal: 500, value: doctor.mebibytes - download.mebibytes },
        what: 'the most memory, beyond that of the download',
      },
      {
        ...{ row, unit: 'ms', goal: 300, value: trace.seconds * 1000 },
        what: 'trace of a connection there, from the shell',
        ceiling: { value: bare.seconds * 1000 },
      },
      {
        ...{ row, unit: 's', goal: 3, value: whatIf.seconds - download.seconds },
        what: 'what-if --drain of a node with 2,000 pods there, beyond the download',
      },
      {
        ...{ row, unit: 'MiB', goal: 500, value: whatIf.mebibytes - download.mebibytes },
        what: 'the most memory of it, beyond that of the download',
      },
    ];
  } finally {
    await binary.stop();
  }
}

type Measured = {
  readonly seconds: number;
  readonly mebibytes: number;
  readonly cpuMicros: number;
};

/** The median of several runs. */
async function measured(words: readonly string[]): Promise<Measured> {
  const runs: Measured[] = [];
  for (let time = 0; time < times; time += 1) runs.push(await runOnce(words));
  const of = (field: keyof Measured): number => median(runs.map((one) => one[field]));
  return { seconds: of('seconds'), mebibytes: of('mebibytes'), cpuMicros: of('cpuMicros') };
}

/** Lets a process write what the kernel says of it when it ends. */
const report = `import { writeSync } from 'node:fs';
process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  writeSync(3, JSON.stringify({ maxRSS, cpu: userCPUTime + systemCPUTime }));
});`;
const preload = `data:text/javascript,${encodeURIComponent(report)}`;

async function runOnce(words: readonly string[]): Promise<Measured> {
  const begin = performance.now();
  const child = spawn(process.execPath, ['--import', preload, ...words], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  let text = '';
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const seconds = (performance.now() - begin) / 1000;
  if (code !== 0) throw new Error(`Cannot measure "${words.join(' ')}": it ended with ${code}`);
  const { maxRSS, cpu } = JSON.parse(text) as { readonly maxRSS: number; readonly cpu: number };
  return { seconds, mebibytes: maxRSS / 1024, cpuMicros: cpu };
}
