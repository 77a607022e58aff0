// 1,000 clients of which 100 read slowly and 100 send garbage, beside the same server with the good ones alone.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { issueClientCertificate } from '../../src/apiserver/certificates/authority.ts';
import type { AbusePlan, AbuseResult } from './abuse-plan.ts';
import { startBinary } from './binary.ts';
import { openClient, prepare } from './client.ts';
import type { Figure } from './figure.ts';
import { load, median, percentile } from './load.ts';
import { cpuMicros, residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';
import type { Target } from './target.ts';

const good = 800;
const bad = 100;
const services = 2_000;
const seconds = 8;
/** In turns, so that what else the machine does meets both alike; the figure is that of the round in the middle. */
const rounds = 5;
/** What is not counted: at first, and after the bad ones have gone. */
const settleSeconds = 3;
/** What the server may grow by, whatever its clients do: what the limits let them leave unread, and the same again. */
const memoryGoalMiB = 1024;

export async function abuseRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory });
  try {
    const { pid, target } = binary;
    const fill = { target, first: 0, objects: services, salt: '', protocol: 'http/1.1' } as const;
    await load(pid, { ...fill, work: 'create', clients: 32, requests: services });
    const users = await makeUsers(target, directory);
    const { alone, beside } = await compare(pid, target, users);
    const row = 'abuse';
    return [
      {
        ...{ row, unit: 'ms', value: alone.p99, p50: alone.p50, p99: alone.p99 },
        what: 'gets of 800 good clients alone, p99',
        cpuMicros: alone.cpuMicros,
      },
      {
        ...{ row, unit: 'ms', value: beside.p99, p50: beside.p50, p99: beside.p99 },
        what: `the same beside 100 slow readers and 100 senders of garbage (${beside.failures} failed; ${beside.connections} bad connections, ${beside.pieces} pieces of garbage)`,
        goal: 2 * alone.p99,
      },
      {
        ...{ row, unit: 'MiB', value: residentMiB(pid).most, goal: memoryGoalMiB },
        what: 'the most memory meanwhile',
      },
    ];
  } finally {
    await binary.stop();
  }
}

type Users = { readonly good: Target; readonly slow: Target };

/** Administrators are exempt from limits, so the clients are two other users; garbage comes from nobody at all. */
async function makeUsers(target: Target, directory: string): Promise<Users> {
  const now = Date.now();
  const pki = join(directory, 'data', 'pki');
  const read = (name: string): string => readFileSync(join(pki, name), 'utf8');
  const authority = { certificate: read('ca.crt'), privateKey: read('ca.key') };
  const as = (commonName: string): Target => {
    const { certificate: cert, privateKey: key } = issueClientCertificate(authority, {
      ...{ commonName, organizations: ['clients'], days: 1, now },
    });
    return { ...target, cert, key };
  };
  const administrator = await openClient(target, 'http/1.1');
  await administrator.send(prepare(binding, 'http/1.1'));
  administrator.close();
  return { good: as('good'), slow: as('slow') };
}

const rbac = 'rbac.authorization.k8s.io';
const binding = {
  method: 'POST',
  path: `/apis/${rbac}/v1/clusterrolebindings`,
  contentType: 'application/json',
  body: JSON.stringify({
    metadata: { name: 'clients' },
    subjects: [{ kind: 'Group', apiGroup: rbac, name: 'clients' }],
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
  }),
};

type Seen = Omit<AbuseResult, 'latencies'> & {
  readonly p50: number;
  readonly p99: number;
  readonly cpuMicros: number;
};

/** The same good clients alone and beside bad ones, who come anew each time. */
async function compare(
  pid: number,
  target: Target,
  users: Users,
): Promise<{ readonly alone: Seen; readonly beside: Seen }> {
  const nobody = { good: 0, slow: 0, garbage: 0, services };
  const everybody = await startClients({ ...nobody, target: users.good, good });
  const alone: Window[] = [];
  const beside: Window[] = [];
  await everybody.work(settleSeconds);
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await observe(pid, [everybody]));
    const badOnes = await Promise.all([
      startClients({ ...nobody, target: users.slow, slow: bad }),
      startClients({ ...nobody, target: { ...target, cert: '', key: '' }, garbage: bad }),
    ]);
    beside.push(await observe(pid, [everybody, ...badOnes]));
    await Promise.all(badOnes.map(({ end }) => end()));
    await everybody.work(settleSeconds);
  }
  await everybody.end();
  return { alone: summarize(alone), beside: summarize(beside) };
}

type Clients = {
  readonly work: (seconds: number) => Promise<AbuseResult>;
  readonly end: () => Promise<unknown>;
};

async function startClients(plan: AbusePlan): Promise<Clients> {
  const child = fork(program, { serialization: 'advanced' });
  if (plan.good === 0) yieldToOthers(child.pid ?? 0);
  const exited = once(child, 'exit');
  const answer = async (): Promise<unknown> => {
    const gone = exited.then(() => Promise.reject(new Error('The clients have ended too early')));
    const [message] = (await Promise.race([once(child, 'message'), gone])) as [unknown];
    return message;
  };
  child.send(plan);
  await answer();
  return {
    work(forSeconds) {
      child.send(forSeconds);
      return answer() as Promise<AbuseResult>;
    },
    end() {
      child.disconnect();
      return exited;
    },
  };
}

type Window = {
  /** The good ones' first. */
  readonly results: readonly AbuseResult[];
  readonly cpuMicros: number;
};

async function observe(pid: number, clients: readonly Clients[]): Promise<Window> {
  const begin = cpuMicros(pid);
  const results = await Promise.all(clients.map(({ work }) => work(seconds)));
  return { results, cpuMicros: cpuMicros(pid) - begin };
}

function summarize(windows: readonly Window[]): Seen {
  const sorted = windows.map(({ results }) => (results[0]?.latencies ?? new Float64Array()).sort());
  const middle = (share: number): number =>
    median(sorted.map((latencies) => percentile(latencies, share)));
  const sum = (of: (result: AbuseResult) => number): number =>
    windows.flatMap(({ results }) => results).reduce((total, result) => total + of(result), 0);
  const cpu = windows.reduce((total, window) => total + window.cpuMicros, 0);
  const requests = sorted.reduce((total, { length }) => total + length, 0);
  return {
    p50: middle(0.5),
    p99: middle(0.99),
    cpuMicros: cpu / Math.max(1, requests),
    failures: sum(({ failures }) => failures),
    connections: sum(({ connections }) => connections),
    pieces: sum(({ pieces }) => pieces),
  };
}

const program = fileURLToPath(new URL('./abuse-process.js', import.meta.url));

/**
 * Bad clients have machines of their own; here they share the cores with the server and the good ones, whose latency
 * would else be that of waiting for a core. All that they make the server do is still done at the server's own rank.
 */
function yieldToOthers(pid: number): void {
  setPriority(pid, constants.priority.PRIORITY_LOW);
}
