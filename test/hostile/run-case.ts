// Runs an attack on a real server beside an honest client, and measures both.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Binary, startBinary } from '../bench/binary.ts';
import { residentMiB } from '../bench/process-stats.ts';
import type { Target } from '../bench/target.ts';
import type { HonestPlan, HonestReport } from './honest-process.ts';
import { createHttpsClient, type HttpsClient } from './https-client.ts';

export type HostileCase = {
  readonly name: string;
  /** Resolves when the attack is over. What the server answers is the attack's own to judge; throwing fails the case. */
  readonly attack: (attacker: Attacker) => Promise<void>;
  /** Additional flags of the server. Cases with the same flags share a server. */
  readonly flags?: readonly string[];
  /** The API server alone (the default), or with the controllers in its process. */
  readonly command?: 'apiserver' | 'up';
};

export type Attacker = {
  /** As the administrator, who is exempt from request limits. */
  readonly client: HttpsClient;
  readonly target: Target;
  /** The data directory of the server. */
  readonly directory: string;
};

export type HostileResult = Omit<HonestReport, 'gaveUp'> & {
  readonly memoryMiB: number;
  /** What the server logged meanwhile. */
  readonly log: string;
};

/**
 * More CPU time of the main thread between a read and its answer fails a case. The goal is 50 ms, which `npm run bench hostile`
 * shows; this leaves room for slow machines and for other requests, and is far below what grows with the square
 * of the input.
 */
export const maxStallCpuMs = 400;
/** A server that is busy for this long counts as hung, and is killed. */
const giveUpCpuMs = 3000;

export type HostileServers = {
  readonly run: (hostile: HostileCase) => Promise<HostileResult>;
  readonly close: () => Promise<void>;
};

type OpenServer = {
  readonly key: string;
  readonly binary: Binary;
  readonly directory: string;
  log: string;
};

/** Cases share servers, unless one hangs. Each server has a directory of its own in this one. */
export function openHostileServers(directory: string): HostileServers {
  const servers = new Map<string, OpenServer>();
  let count = 0;
  const serverFor = async ({
    command = 'apiserver',
    flags = [],
  }: HostileCase): Promise<OpenServer> => {
    const key = [command, ...flags].join(' ');
    const open = servers.get(key);
    if (open !== undefined) return open;
    count += 1;
    const own = join(directory, `server-${count}`);
    mkdirSync(own);
    let log = '';
    const logged = (text: string): void => {
      log += text;
      if (server !== undefined) server.log = log;
    };
    let server: OpenServer | undefined;
    const binary = await startBinary({ command, directory: own, flags, logged });
    server = { key, binary, directory: join(own, 'data'), log };
    servers.set(key, server);
    return server;
  };
  return {
    async run(hostile) {
      const server = await serverFor(hostile);
      const logBefore = server.log.length;
      const { target, pid } = server.binary;
      const honest = await startHonest({ target, pid, giveUpCpuMs });
      const client = createHttpsClient(target);
      const attacking = hostile.attack({ client, target, directory: server.directory });
      const outcome = await Promise.race([
        attacking.then(
          () => 'over',
          (error: Error) => error,
        ),
        honest.gaveUp,
      ]);
      const memoryMiB = residentMiB(pid).now;
      const { gaveUp, ...report } = await honest.stop();
      client.close();
      if (gaveUp) {
        servers.delete(server.key);
        await server.binary.kill();
      }
      if (outcome instanceof Error && !gaveUp) throw outcome;
      return { ...report, memoryMiB, log: server.log.slice(logBefore) };
    },
    async close() {
      await Promise.all([...servers.values()].map(({ binary }) => binary.stop()));
    },
  };
}

type Honest = {
  readonly gaveUp: Promise<'gave up'>;
  readonly stop: () => Promise<HonestReport>;
};

const program = fileURLToPath(new URL('./honest-process.js', import.meta.url));

async function startHonest(plan: HonestPlan): Promise<Honest> {
  const child = fork(program, { serialization: 'advanced' });
  child.send(plan);
  await once(child, 'message');
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`The honest client ended with ${code}`);
  });
  const reported = Promise.race([
    once(child, 'message').then(([report]) => report as HonestReport),
    exited,
  ]);
  // Handled by those who await it; a client that ends early must not be an unhandled rejection before.
  reported.catch(() => undefined);
  return {
    gaveUp: new Promise((resolve) => {
      reported.then(
        ({ gaveUp }) => gaveUp && resolve('gave up'),
        () => resolve('gave up'),
      );
    }),
    stop: () => {
      if (child.connected) child.send('stop', () => undefined);
      return reported;
    },
  };
}
