// From the start of the process to ready, with a new data directory and with one that is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startBinary } from './binary.ts';
import type { Figure } from './figure.ts';
import { median } from './load.ts';
import { cpuMicros } from './process-stats.ts';
import type { RowOptions } from './row.ts';

const times = 7;

export async function startRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const fresh: number[] = [];
  const again: number[] = [];
  const bare: number[] = [];
  const cpu: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const dataDir = join(directory, `start-${time}`);
    for (const found of [fresh, again]) {
      const binary = await startBinary({ command: 'up', directory: dataDir });
      found.push(binary.readyMs);
      if (found === fresh) cpu.push(cpuMicros(binary.pid));
      await binary.stop();
    }
    bare.push(await startBareNode());
  }
  const facts = { row: 'start', unit: 'ms', ceiling: { value: median(bare) } } as const;
  return [
    {
      ...facts,
      what: 'up --network none to ready, new data',
      value: median(fresh),
      goal: 400,
      upstream: '1,100 ms, plus etcd',
      cpuMicros: median(cpu),
    },
    { ...facts, what: 'the same with data that is there', value: median(again) },
  ];
}

async function startBareNode(): Promise<number> {
  const begin = performance.now();
  const child = spawn(process.execPath, ['-e', 'require("node:http2")'], { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - begin;
}
