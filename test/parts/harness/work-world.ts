// The cluster in which the whole work of controllers is asked for: its clock, its nodes that are alive, and what its agents do.
import assert from 'node:assert/strict';
import type { FakeClock } from '../../../src/host/fake-clock.ts';
import { isPodFinished } from '../../../src/kinds/pod/readiness.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import type { ApiClient, ObjectList } from './api-client.ts';
import { markReady, renewLease } from './node-agent.ts';

export type WorkWorld = { readonly api: ApiClient; readonly clock: FakeClock };

/** With the nodes whose agents renew their leases. */
export type World = WorkWorld & { readonly alive: Set<string> };

/** Where the work is done. */
export const ns = '/api/v1/namespaces/work';
const renewMs = 10_000;
const stepMs = 200;

/** Lets the time pass while the nodes that are alive renew their leases, as often as agents do. */
export async function pass(world: World, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= renewMs) {
    await world.clock.advance(Math.min(left, renewMs));
    for (const name of world.alive) await renewLease(world, name);
  }
}

export async function until(
  world: World,
  what: string,
  holds: () => Promise<boolean>,
  maxMs = 120_000,
): Promise<void> {
  for (let passed = 0; passed <= maxMs; passed += stepMs) {
    if (await holds()) return;
    await pass(world, stepMs);
  }
  assert.fail(`did not happen within ${maxMs} ms: ${what}`);
}

export const isGone = async ({ api }: World, path: string): Promise<boolean> =>
  (await api.send({ method: 'GET', path })).status === 404;
export const list = async <T = KubeObject>({ api }: World, path: string): Promise<readonly T[]> =>
  (await api.get<ObjectList<T>>(path)).items;

/** Pods run as soon as they have a node; deleted ones end. */
export async function agent(world: World): Promise<void> {
  for (const pod of await list<Pod>(world, `${ns}/pods`)) {
    const isReady = pod.status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
    const isLeaving = pod.metadata.deletionTimestamp !== undefined;
    if (isLeaving) {
      const path = `${ns}/pods/${pod.metadata.name}?gracePeriodSeconds=0`;
      await world.api.send({ method: 'DELETE', path });
    } else if (pod.spec.nodeName && !isReady && !isPodFinished(pod)) {
      await markReady(world, pod);
      const podIPs = [{ ip: `10.1.0.${1 + (Number(pod.metadata.resourceVersion) % 200)}` }];
      const status = { podIP: podIPs[0]?.ip, podIPs };
      await world.api.patch(`${ns}/pods/${pod.metadata.name}/status`, { status });
    }
  }
}
