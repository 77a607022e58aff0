// Namespaces that are deleted while everything in them is being rolled out: controllers meet "namespace is terminating" at
// every step of their work.
import { createRandom } from '../parts/harness/random.ts';
import type { HttpsClient } from './https-client.ts';
import type { HostileCase } from './run-case.ts';

/** By hand: thousands. */
const namespaces = Number(process.env.FAIRLEAD_CHAOS_NAMESPACES ?? 8);
const atOnce = 4;
const stepsEach = 6;

type Random = ReturnType<typeof createRandom>;
type Object = { readonly kind: string; readonly path: string; readonly object: unknown };

export const namespaceChaos: HostileCase = {
  name: `${namespaces} namespaces deleted during rollouts of every kind`,
  command: 'up',
  async attack({ client }) {
    const seed = Number(process.env.FAIRLEAD_CHAOS_SEED ?? 1);
    const next = { index: 0 };
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (next.index < namespaces) {
          next.index += 1;
          const name = `chaos-${process.pid}-${next.index}`;
          await liveAndDie(client, name, createRandom(seed + next.index));
        }
      }),
    );
  },
};

async function liveAndDie(client: HttpsClient, namespace: string, random: Random): Promise<void> {
  await call(client, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const objects = rollouts(namespace);
  for (const { path, object } of objects) await call(client, 'POST', path, object);
  const deleteAt = random.below(stepsEach);
  for (let step = 0; step < stepsEach; step += 1) {
    if (step === deleteAt) await call(client, 'DELETE', `/api/v1/namespaces/${namespace}`);
    await Promise.all(objects.map((one) => change(client, one, random)));
    await readyPods(client, namespace);
  }
  await gone(client, namespace);
}

/** What the server refuses here is as it should be; what it fails at, or does not answer, is not. */
async function call(
  client: HttpsClient,
  method: string,
  path: string,
  object?: unknown,
): Promise<string> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const { status, text } = await client.send({
    ...{ method, path, headers: { 'content-type': type } },
    ...(object === undefined ? {} : { body: JSON.stringify(object) }),
  });
  if (status >= 500) throw new Error(`${method} ${path} answered ${status} ${text.slice(0, 300)}`);
  return text;
}

function rollouts(namespace: string): readonly Object[] {
  const core = `/api/v1/namespaces/${namespace}`;
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const of = (app: string) => ({
    replicas: 3,
    selector: { matchLabels: { app } },
    template: {
      metadata: { labels: { app } },
      spec: { containers: [{ name: 'a', image: 'b', env: [{ name: 'A', value: '0' }] }] },
    },
  });
  const deployment = (name: string, more: object): Object => ({
    kind: 'Deployment',
    path: `${apps}/deployments`,
    object: { metadata: { name }, spec: { ...of(name), ...more } },
  });
  const controller = of('rc');
  return [
    deployment('rolling', {}),
    deployment('empty', { replicas: 0 }),
    deployment('recreate', { strategy: { type: 'Recreate' } }),
    deployment('short', { progressDeadlineSeconds: 1, minReadySeconds: 0 }),
    {
      kind: 'ReplicaSet',
      path: `${apps}/replicasets`,
      object: { metadata: { name: 'set' }, spec: of('set') },
    },
    {
      kind: 'ReplicationController',
      path: `${core}/replicationcontrollers`,
      object: { metadata: { name: 'rc' }, spec: { ...controller, selector: { app: 'rc' } } },
    },
    {
      kind: 'Service',
      path: `${core}/services`,
      object: {
        metadata: { name: 'web' },
        spec: { selector: { app: 'rolling' }, ports: [{ port: 80 }] },
      },
    },
    {
      kind: 'Service',
      path: `${core}/services`,
      object: { metadata: { name: 'by-hand' }, spec: { ports: [{ port: 80 }] } },
    },
    {
      kind: 'Endpoints',
      path: `${core}/endpoints`,
      object: {
        metadata: { name: 'by-hand' },
        subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }],
      },
    },
  ];
}

async function change(
  client: HttpsClient,
  { kind, path, object }: Object,
  random: Random,
): Promise<void> {
  const { name } = (object as { readonly metadata: { readonly name: string } }).metadata;
  const patch = patchOf(kind, random);
  await call(client, 'PATCH', `${path}/${name}`, patch);
}

function patchOf(kind: string, random: Random): unknown {
  const value = `${random.below(1_000)}`;
  if (kind === 'Service') return { metadata: { labels: { value } } };
  if (kind === 'Endpoints') {
    const addresses = [{ ip: `192.0.2.${1 + random.below(200)}` }];
    return { subsets: [{ addresses, ports: [{ port: 80 }] }] };
  }
  if (random.below(3) === 0) return { spec: { replicas: random.below(5) } };
  const containers = [{ name: 'a', image: 'b', env: [{ name: 'A', value }] }];
  return { spec: { template: { spec: { containers } } } };
}

/** There are no nodes here: what a node would say of its pods is said for it, so that rollouts go on. */
async function readyPods(client: HttpsClient, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const list = JSON.parse(await call(client, 'GET', path)) as {
    readonly items?: readonly { readonly metadata: { readonly name: string } }[];
  };
  const conditions = [{ type: 'Ready', status: 'True' }];
  for (const { metadata } of (list.items ?? []).slice(0, 5)) {
    await call(client, 'PATCH', `${path}/${metadata.name}/status`, {
      status: { phase: 'Running', podIP: '192.0.2.9', podIPs: [{ ip: '192.0.2.9' }], conditions },
    });
  }
}

/** Pods have no node that would end them, so this ends them; the rest is the controllers' work. */
async function gone(client: HttpsClient, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}`;
  for (;;) {
    const { status } = await client.send({ method: 'GET', path });
    if (status === 404) return;
    await call(client, 'DELETE', `${path}/pods`, { gracePeriodSeconds: 0 });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
