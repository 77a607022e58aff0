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
import { load, percentile } from './load.ts';
import { cpuMicros, residentMiB } from './process-stats.ts';
import type { RowOptions } from './row.ts';
import type { Target } from './target.ts';

const good = 800;
const bad = 100;
const services = 2_000;
const seconds = 10;
/** What the server may grow by, whatever its clients do: what the limits let them leave unread, and the same again. */
const memoryGoalMiB = 1024;

export async function abuseRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory });
  try {
    const { pid, target } = binary;
    const fill = { target, first: 0, objects: services, salt: '', protocol: 'http/1.1' } as const;
    await load(pid, { ...fill, work: 'create', clients: 32, requests: services });
    const users = await makeUsers(target, directory);
    const nobody = { good: 0, slow: 0, garbage: 0, seconds, services };
    const quiet = { ...nobody, target: users.good, good };
    await run(pid, [{ ...quiet, seconds: 3 }]);
    const before = await run(pid, [quiet]);
    const after = await run(pid, [
      quiet,
      { ...nobody, target: users.slow, slow: bad },
      { ...nobody, target: { ...target, cert: '', key: '' }, garbage: bad },
    ]);
    const row = 'abuse';
    return [
      {
        ...{ row, unit: 'ms', value: before.p99, p50: before.p50, p99: before.p99 },
        what: 'gets of 800 good clients alone, p99',
        cpuMicros: before.cpuMicros,
      },
      {
        ...{ row, unit: 'ms', value: after.p99, p50: after.p50, p99: after.p99 },
        what: `the same beside 100 slow readers and 100 senders of garbage (${after.failures} failed; ${after.connections} bad connections, ${after.pieces} pieces of garbage)`,
        goal: 2 * before.p99,
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

type Run = Omit<AbuseResult, 'latencies'> & {
  readonly p50: number;
  readonly p99: number;
  readonly cpuMicros: number;
};

/** What the good clients of the first plan saw, and what the others did to them. */
async function run(pid: number, plans: readonly AbusePlan[]): Promise<Run> {
  const clients = plans.map((plan) => {
    const child = fork(program, { serialization: 'advanced' });
    if (plan.good === 0) yieldToOthers(child.pid ?? 0);
    child.send(plan);
    return child;
  });
  await Promise.all(clients.map((client) => once(client, 'message')));
  const begin = cpuMicros(pid);
  const exits = clients.map((client) => once(client, 'exit'));
  const results = clients.map(async (client) => {
    const [result] = (await once(client, 'message')) as [AbuseResult];
    return result;
  });
  for (const client of clients) client.send('go');
  const all = await Promise.all(results);
  await Promise.all(exits);
  const sum = (of: (result: AbuseResult) => number): number =>
    all.reduce((total, result) => total + of(result), 0);
  const sorted = (all[0]?.latencies ?? new Float64Array()).slice().sort();
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpuMicros: (cpuMicros(pid) - begin) / Math.max(1, sorted.length),
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
