// Clients that continue after any failure, send to any server, and record the responses with their times.
import assert from 'node:assert/strict';
import type { Service } from '../../src/kinds/service/types.ts';
import type { KubeObject } from '../../src/meta/object.ts';
import type {
  Answer,
  ApiCall,
  ApiClient,
  ObjectList,
  WatchEvent,
} from '../parts/harness/api-client.ts';
import type { Operation } from '../parts/harness/register-history.ts';
import type { Tally } from './etcd-fault-tally.ts';

export const maps = '/api/v1/namespaces/default/configmaps';
export const services = '/api/v1/namespaces/default/services';

export type ConfigMap = KubeObject & { readonly data?: { readonly value?: string } };

/** A server that clients connect to; which of them it is, counted from 0. */
export type Reachable = {
  readonly number: number;
  readonly connect: () => Promise<ApiClient>;
};

/** A frozen server never answers: who waited so long asks others for a while. */
const patienceMs = 3000;
const avoidMs = 5000;

/** Sends to one server; undefined when the outcome is unknown. */
export type Requester = <T>(call: ApiCall) => Promise<Answer<T> | undefined>;

export function createRequester(
  server: Reachable,
  tally: Tally,
): Requester & { readonly close: () => void } {
  let connection: Promise<ApiClient> | undefined;
  let avoidUntil = 0;
  const drop = (): void => {
    connection?.then(
      (api) => api.close(),
      () => {},
    );
    connection = undefined;
  };
  const send = async <T>(call: ApiCall): Promise<Answer<T> | undefined> => {
    if (performance.now() < avoidUntil) {
      await pause();
      return undefined;
    }
    connection ??= server.connect();
    try {
      const answer = await inTime(connection.then((api) => api.send<T>(call)));
      if (answer.status < 500) {
        tally.note(server.number);
        return answer;
      }
      await pause();
      return undefined;
    } catch (error) {
      // Refused, cut off or silent.
      if (error instanceof Silence) avoidUntil = performance.now() + avoidMs;
      drop();
      await pause();
      return undefined;
    }
  };
  return Object.assign(send, { close: drop });
}

/** Refusals come at once: without a pause a dead server would keep the machine busy. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

class Silence extends Error {}

function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Silence('no answer')), patienceMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

export type History = {
  readonly operations: ReadonlyMap<string, readonly Operation[]>;
  readonly add: (key: string, operation: Operation) => void;
};

export function createHistory(): History {
  const operations = new Map<string, Operation[]>();
  return {
    operations,
    add(key, operation) {
      const ofKey = operations.get(key);
      if (ofKey === undefined) operations.set(key, [operation]);
      else ofKey.push(operation);
    },
  };
}

export type RegisterClient = {
  readonly name: string;
  readonly requesters: readonly Requester[];
  readonly keys: readonly string[];
  readonly history: History;
  readonly random: (below: number) => number;
};

/** Reads and writes registers at random, until the signal aborts. */
export async function useRegisters(client: RegisterClient, end: AbortSignal): Promise<void> {
  const { name, requesters, keys, random } = client;
  let newest = '0';
  for (let n = 0; !end.aborted; n += 1) {
    const send = requesters[random(requesters.length)];
    const key = keys[random(keys.length)];
    if (send === undefined || key === undefined) return;
    const choice = random(10);
    if (choice === 0) newest = await listNoOlder(send, newest);
    else if (choice < 5) await read(client, send, key);
    else await write(client, send, { key, value: `${name}-${n}` });
  }
}

/** A client that passes the version it saw never sees an older state, whichever server it asks. */
async function listNoOlder(send: Requester, version: string): Promise<string> {
  const path = `${maps}?resourceVersionMatch=NotOlderThan&resourceVersion=${version}`;
  const answer = await send<ObjectList>({ method: 'GET', path });
  if (answer === undefined) return version;
  assert.equal(answer.status, 200);
  const { resourceVersion } = answer.body.metadata;
  assert.ok(Number(resourceVersion) >= Number(version), `${resourceVersion} after ${version}`);
  return resourceVersion;
}

async function read({ history }: RegisterClient, send: Requester, key: string): Promise<void> {
  const startedAt = performance.now();
  const answer = await send<ConfigMap>({ method: 'GET', path: `${maps}/${key}` });
  if (answer === undefined) return;
  assert.equal(answer.status, 200);
  const value = answer.body.data?.value ?? '';
  history.add(key, { kind: 'read', value, startedAt, endedAt: performance.now() });
}

async function write(
  { history }: RegisterClient,
  send: Requester,
  { key, value }: { readonly key: string; readonly value: string },
): Promise<void> {
  const startedAt = performance.now();
  const answer = await send<ConfigMap>({
    method: 'PATCH',
    path: `${maps}/${key}`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { data: { value } },
  });
  const ended = answer === undefined ? {} : { endedAt: performance.now() };
  if (answer !== undefined) assert.equal(answer.status, 200, JSON.stringify(answer.body));
  history.add(key, { kind: 'write', value, startedAt, ...ended });
}

/** Creates services and deletes some; returns those acknowledged as created and as deleted. */
export async function useServices(
  name: string,
  requesters: readonly Requester[],
  { random, end }: { readonly random: (below: number) => number; readonly end: AbortSignal },
): Promise<{ readonly there: readonly string[]; readonly gone: readonly string[] }> {
  const there: string[] = [];
  const gone: string[] = [];
  for (let n = 0; !end.aborted; n += 1) {
    const send = requesters[random(requesters.length)];
    if (send === undefined) break;
    const own = `${name}-${n}`;
    const spec = { type: 'NodePort', ports: [{ port: 80 }] };
    const body = { metadata: { name: own }, spec };
    const made = await send<Service>({ method: 'POST', path: services, body });
    if (made?.status === 201) there.push(own);
    // Few at a time, so that the range lasts.
    const [oldest] = there;
    if (there.length < 5 || oldest === undefined) continue;
    there.shift();
    const deleted = await send({ method: 'DELETE', path: `${services}/${oldest}` });
    if (deleted?.status === 200) gone.push(oldest);
  }
  return { there, gone };
}

export type Follower = {
  readonly servers: readonly Reachable[];
  readonly from: string;
  /** The version that is the last one to see. */
  readonly until: Promise<string>;
  /** Stays with a silent server until that one comes back or ends; others look for another. */
  readonly isPatient: boolean;
};

/** Follows from a version on, over whichever server answers, until it has seen a version. */
export async function followChanges({
  servers,
  from,
  until,
  isPatient,
}: Follower): Promise<readonly WatchEvent<ConfigMap>[]> {
  // Whatever fails, a server was killed, frozen or cut off: the next one continues at the last event.
  const received: WatchEvent<ConfigMap>[] = [];
  const last = (): string => received.at(-1)?.object.metadata.resourceVersion ?? from;
  let goal = Number.POSITIVE_INFINITY;
  const isDone = (): boolean => Number(last()) >= goal;
  for (let n = 0; !isDone(); n += 1) {
    const server = servers[n % servers.length];
    const api = server && (await inTime(server.connect()).catch(() => undefined));
    if (api === undefined) {
      await pause();
      continue;
    }
    const path = `${maps}?watch=true&resourceVersion=${last()}`;
    const watch = await inTime(api.watch<ConfigMap>(path)).catch(() => undefined);
    const reached = until.then(async (version) => {
      goal = Number(version);
      await watch?.until((events) => events.some(({ object }) => versionOf(object) >= goal));
    });
    const ends = [watch?.ended, reached.catch(() => {}), ...(isPatient ? [] : [silenceOf(api)])];
    if (watch !== undefined) await Promise.race(ends);
    received.push(...(watch?.events ?? []));
    api.close();
  }
  return received;
}

/** Resolves when the server does not answer a ping. */
async function silenceOf(api: ApiClient): Promise<void> {
  try {
    for (;;) {
      await inTime(api.ping());
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  } catch {
    // Silent, or closed.
  }
}

const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);
