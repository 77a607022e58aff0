// The node that answers for a balancer's address loses its power: how long a client on the lan gets no answer, and how many of its
// connections are lost.
import { runInLab } from '../netns/lab/enter.ts';
import type { Figure } from './figure.ts';

const rounds = 3;
/** A lease of three seconds, and a little to notice and to be believed. */
const goalMs = 5000;

type Measured = {
  readonly withoutAnswerMs: number;
  readonly held: number;
  readonly lost: number;
};

export async function failoverRow(): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) {
    process.stderr.write('failover: needs root for network namespaces, left out\n');
    return [];
  }
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measure());
  const times = measured.map(({ withoutAnswerMs }) => withoutAnswerMs).sort((a, b) => a - b);
  const row = 'failover';
  return [
    {
      ...{ row, unit: 'ms', goal: goalMs },
      what: `the node that answers for an address is killed: longest time without an answer, of ${rounds}`,
      value: times.at(-1) ?? 0,
      p50: times[Math.floor(rounds / 2)] ?? 0,
      p99: times.at(-1) ?? 0,
    },
    {
      ...{ row, unit: 'connections' },
      what: `open connections through it that are lost, of ${measured[0]?.held}`,
      value: Math.max(...measured.map(({ lost }) => lost)),
    },
  ];
}

async function measure(): Promise<Measured> {
  const { code, output } = await runInLab('balance-load.js', ['failOver']);
  if (code !== 0) throw new Error(`Cannot measure the fail-over: ${output}`);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Measured;
}
