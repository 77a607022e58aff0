// Tries what was explained from inside a pod, with the programs that its image has. Whatever they print is only read, and bounded.
import type { Observed } from './compare-live.ts';
import type { LiveConnection, LiveQuery } from './live.ts';
import { connectCommand, readResolved, readTried, resolveCommand } from './pod-script.ts';
import { type LivePlan, liveConnection, liveResolver, targetsOf } from './run-live.ts';

/** Runs a program in the pod, and resolves to what it wrote. */
export type RunInPod = (command: readonly string[], timeoutMs: number) => Promise<string>;

export type PodSite = {
  readonly sentence: string;
  readonly run: RunInPod;
};

/** To start a program there, and for a resolver that waits for several servers. */
const startMs = 20_000;
const maxAddresses = 4;

export async function runInPod(
  { trace, limits }: LivePlan,
  { sentence, run }: PodSite,
): Promise<Observed> {
  const { name } = trace;
  const { resolver, tool, query } = readResolved(
    await run(resolveCommand(name?.name ?? ''), startMs + limits.timeoutMs),
  );
  const queries: LiveQuery[] = [];
  const notes: string[] = [];
  if (name !== undefined && tool === undefined) {
    notes.push('nothing in the image can resolve a name: no getent, python3, node or nslookup');
  } else if (name !== undefined) {
    // Programs say what came of the whole search list, not of its single names.
    queries.push({ name: name.used?.name ?? name.name, type: 'any', ...query });
  }
  const targets = targetsOf(trace, queries).slice(0, maxAddresses);
  const connections = await tryConnections(targets, { limits, run, notes });
  notes.push('from there the kernel of the node cannot be seen');
  return {
    site: sentence,
    ...(name === undefined ? {} : { resolver: liveResolver(resolver) }),
    ...{ queries, connections, notes, rules: [] },
  };
}

type Parts = {
  readonly limits: LivePlan['limits'];
  readonly run: RunInPod;
  readonly notes: string[];
};

async function tryConnections(
  targets: ReturnType<typeof targetsOf>,
  { limits, run, notes }: Parts,
): Promise<readonly LiveConnection[]> {
  if (targets.length === 0) return [];
  if (targets.some(({ protocol }) => protocol !== 'TCP')) {
    return targets.map((one) =>
      liveConnection(one, [
        { result: 'untried', tookMs: 0, why: 'from inside a pod only TCP is tried' },
      ]),
    );
  }
  const { timeoutMs, count } = limits;
  const limit = startMs + targets.length * count * (timeoutMs + 1000);
  const { tool, attempts } = readTried(
    await run(connectCommand({ timeoutMs, count, targets }), limit),
  );
  if (tool === undefined) {
    const why =
      'nothing in the image can open a connection: no bash, nc, python3, node, wget or curl';
    return targets.map((one) => liveConnection(one, [{ result: 'untried', tookMs: 0, why }]));
  }
  notes.push(`tried with ${tool}, which the image has`);
  return targets.map((one) => {
    const { tookMs: _, ...connection } = liveConnection(
      one,
      attempts.get(`${one.address} ${one.port}`) ?? [],
    );
    return connection;
  });
}
