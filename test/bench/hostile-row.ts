// The longest that an honest client waits for the main thread of a server under attack, for each attack of test/hostile.
import { allCases } from '../hostile/all-cases.ts';
import { openHostileServers } from '../hostile/run-case.ts';
import type { Figure } from './figure.ts';
import type { RowOptions } from './row.ts';

/** The longest that anything may keep the event loop. */
const goal = 50;

export async function hostileRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const servers = openHostileServers(directory);
  const figures: Figure[] = [];
  try {
    for (const hostile of allCases) {
      const { maxStallCpuMs, failures, memoryMiB } = await servers.run(hostile);
      const more = `${failures.length} honest requests failed, ${Math.round(memoryMiB)} MiB`;
      const what = `${hostile.name} (${more})`;
      figures.push({ row: 'hostile', unit: 'ms', what, value: maxStallCpuMs, goal });
    }
    return figures;
  } finally {
    await servers.close();
  }
}
