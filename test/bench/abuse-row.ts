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
import { cpuMicros, residentMiB, stolenMs } from './process-stats.ts';
import type { RowOptions } from './row.ts';
import type { Target } from './target.ts';

const good = 800;
const bad = 100;
const services = 2_000;
const seconds = 5;
/** Rounds go in turns, so that what else the machine does meets both alike. Of these, the ones that most was stolen from are left out. */
const quietRounds = 5;
/** What is not counted: at first, and after the bad ones have come or gone. */
const settleSeconds = 2;
/** What the server may grow by, whatever its clients do: what the limits let them leave unread, and the same again. */
const memoryGoalMiB = 1024;

type Load = { readonly what: string; readonly goodPauseMs: number; readonly rounds: number };

/** A server with time to spare shows every pause, the machine's own as well. */
const loads: readonly Load[] = [
  { what: 'one get a second each', goodPauseMs: 1000, rounds: 9 },
  { what: 'get after get', goodPauseMs: 0, rounds: 5 },
];

export async function abuseRow({ directory }: RowOptions): Promise<readonly Figure[]> {
  const binary = await startBinary({ command: 'apiserver', directory });
  try {
    const { pid, target } = binary;
    const fill = { target, first: 0, objects: services, salt: '', protocol: 'http/1.1' } as const;
    await load(pid, { ...fill, work: 'create', clients: 32, requests: services });
    const users = await makeUsers(target, directory);
    const figures: Figure[] = [];
    for (const one of loads) figures.push(...figuresOf(one, await compare(pid, users, one)));
    const most = residentMiB(pid).most;
    return [
      ...figures,
      { row, unit: 'MiB', value: most, goal: memoryGoalMiB, what: 'the most memory meanwhile' },
    ];
  } finally {
    await binary.stop();
  }
}

const row = 'abuse';

function figuresOf({ what }: Load, { alone, arriving, beside, bad }: Compared): readonly Figure[] {
  const figure = (text: string, { p50, p99 }: Seen) =>
    ({ row, unit: 'ms', what: text, value: p99, p50, p99 }) as const;
  const failures = alone.failures + arriving.failures + beside.failures;
  return [
    {
      ...figure(`gets of 800 good clients alone, ${what}, p99`, alone),
      cpuMicros: alone.cpuMicros,
    },
    {
      ...figure(
        `the same beside 100 slow readers and 100 senders of garbage (${failures} failed; ${bad.connections} bad connections, ${bad.pieces} pieces of garbage)`,
        beside,
      ),
      goal: 2 * alone.p99,
    },
    figure(`the same in the ${settleSeconds} seconds in which the bad ones come`, arriving),
  ];
}

type Users = { readonly good: Target; readonly slow: Target; readonly anonymous: Target };

/** Administrators are exempt from limits, so the clients are two other users; garbage comes from anonymous clients. */
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
  return { good: as('good'), slow: as('slow'), anonymous: { ...target, cert: '', key: '' } };
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

type Seen = {
  readonly p50: number;
  readonly p99: number;
  readonly cpuMicros: number;
  readonly failures: number;
};

type Bad = Pick<AbuseResult, 'connections' | 'pieces'>;

type Compared = {
  readonly alone: Seen;
  readonly arriving: Seen;
  readonly beside: Seen;
  readonly bad: Bad;
};

/** The same good clients alone and beside bad ones, who come anew each time. */
async function compare(
  pid: number,
  users: Users,
  { goodPauseMs, rounds }: Load,
): Promise<Compared> {
  const anonymous = { good: 0, slow: 0, garbage: 0, services, goodPauseMs };
  const everybody = await startClients({ ...anonymous, target: users.good, good });
  const alone: Window[] = [];
  const arriving: Window[] = [];
  const beside: Window[] = [];
  const done: AbuseResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await everybody.work(settleSeconds);
    alone.push(await observe(pid, everybody, seconds));
    const badOnes = await Promise.all([
      startClients({ ...anonymous, target: users.slow, slow: bad }),
      startClients({ ...anonymous, target: users.anonymous, garbage: bad }),
    ]);
    // They stay until the good ones have finished.
    const misdeeds = Promise.all(badOnes.map(({ work }) => work(settleSeconds + seconds + 1)));
    arriving.push(await observe(pid, everybody, settleSeconds));
    beside.push(await observe(pid, everybody, seconds));
    done.push(...(await misdeeds));
    await Promise.all(badOnes.map(({ end }) => end()));
  }
  await everybody.end();
  const sum = (of: (result: AbuseResult) => number): number =>
    done.reduce((total, result) => total + of(result), 0);
  return {
    alone: summarize(alone),
    arriving: summarize(arriving),
    beside: summarize(beside),
    bad: {
      connections: sum(({ connections }) => connections),
      pieces: sum(({ pieces }) => pieces),
    },
  };
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

type Window = Pick<AbuseResult, 'latencies' | 'failures'> & {
  readonly cpuMicros: number;
  readonly stolenMs: number;
};

async function observe(pid: number, clients: Clients, forSeconds: number): Promise<Window> {
  const begin = { cpu: cpuMicros(pid), stolen: stolenMs() };
  const { latencies, failures } = await clients.work(forSeconds);
  return {
    latencies: latencies.sort(),
    failures,
    cpuMicros: cpuMicros(pid) - begin.cpu,
    stolenMs: stolenMs() - begin.stolen,
  };
}

/** What was slow is the median of the quiet rounds; what failed, failed. */
function summarize(windows: readonly Window[]): Seen {
  const quiet = windows.toSorted((a, b) => a.stolenMs - b.stolenMs).slice(0, quietRounds);
  const middle = (share: number): number =>
    median(quiet.map(({ latencies }) => percentile(latencies, share)));
  const sum = (of: (window: Window) => number): number =>
    windows.reduce((total, window) => total + of(window), 0);
  return {
    p50: middle(0.5),
    p99: middle(0.99),
    cpuMicros:
      sum((window) => window.cpuMicros) /
      Math.max(
        1,
        sum((w) => w.latencies.length),
      ),
    failures: sum(({ failures }) => failures),
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
