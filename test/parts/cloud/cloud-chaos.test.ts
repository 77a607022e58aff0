// The service controller killed at random moments, while Services come, change and go, every call to the cloud fails one time in
// five and so do requests to the API. At rest the cloud holds exactly what the Services say. FAIRLEAD_SEED repeats a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeLocalProvider } from '../../../src/cloud/providers/local/local-provider.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import {
  type CloudHarness,
  type RunningCloud,
  servicePath,
  startCloudHarness,
} from '../harness/cloud-harness.ts';
import { createLedger, type Ledger } from '../harness/cloud-ledger.ts';
import { createFaultyTransport, type FaultyTransport } from '../harness/faulty-transport.ts';
import { chooseSeed, createRandom, type Random } from '../harness/random.ts';

const steps = 250;
const names = 12;
/** One in so many steps the controller is killed. */
const oneInKills = 12;
/** One in so many calls to the cloud fails, half of them after they were carried out. */
const oneInCalls = 5;
const seed = chooseSeed();

type Generation = FaultyTransport & RunningCloud;

/** Something that happens to a Service; what the API refuses is no matter. */
async function happen(harness: CloudHarness, random: Random): Promise<void> {
  const path = servicePath(`s${random.below(names)}`);
  const name = path.split('/').at(-1);
  const send = (method: string, at: string, body?: object): Promise<unknown> =>
    harness.api.send({ method, path: at, ...(body === undefined ? {} : { body }) });
  const patch = (spec: object): Promise<unknown> =>
    harness.api.patch(path, { spec }).catch(() => {});
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      return void (await send('POST', '/api/v1/namespaces/default/services', {
        metadata: { name },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      }));
    case 3:
      return void (await send('DELETE', path));
    case 4:
      return void (await patch({ type: 'ClusterIP' }));
    case 5:
      return void (await patch({ type: 'LoadBalancer' }));
    case 6:
      return void (await patch({ ports: [{ port: 80 + random.below(9), protocol: 'TCP' }] }));
    default:
      return void (await (random.below(2) === 0
        ? send('POST', '/api/v1/nodes', { metadata: { name: `n${random.below(4)}` } })
        : send('DELETE', `/api/v1/nodes/n${random.below(4)}`)));
  }
}

/** Makes calls to the cloud fail before or after they are carried out, until it is stopped. */
function failSometimes(ledger: Ledger, random: Random): () => void {
  ledger.meddle = async () => {
    if (random.below(oneInCalls * 2) === 0) throw new Error('the cloud is away');
  };
  return () => {
    ledger.meddle = () => {};
  };
}

async function churn(
  harness: CloudHarness,
  random: Random,
  start: (faulty: FaultyTransport) => RunningCloud,
): Promise<number> {
  const begin = (): Generation => {
    const faulty = createFaultyTransport(harness.direct, random);
    return { ...faulty, ...start(faulty) };
  };
  let current = begin();
  let kills = 0;
  const ended: Promise<void>[] = [];
  for (let step = 0; step < steps; step += 1) {
    await happen(harness, random);
    await harness.clock.advance(random.below(5) * 20);
    if (random.below(oneInKills) > 0) continue;
    // From this moment nothing of it reaches the API; what it is doing in the cloud goes on.
    current.kill();
    ended.push(current.end());
    kills += 1;
    current = begin();
  }
  current.heal();
  await settleEnds(harness, ended);
  return kills;
}

async function settleEnds(harness: CloudHarness, ended: Promise<void>[]): Promise<void> {
  let isOver = false;
  void Promise.all(ended).then(() => {
    isOver = true;
  });
  await harness.until('the killed have ended', async () => isOver);
}

/** Longer than the longest back-off. */
const restMs = 900_000;
const wants = ({ spec, metadata }: Service): boolean =>
  spec.type === 'LoadBalancer' && metadata.deletionTimestamp === undefined;

test(`no balancer is lost or left behind (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const harness = await startCloudHarness();
  const ledger = createLedger();
  try {
    const heal = failSometimes(ledger, random);
    const kills = await churn(harness, random, ({ transport }) =>
      harness.start({ makeProvider: ledger.make, send: transport.send }),
    );
    assert.ok(kills > 5);
    heal();
    const nodes = (
      await harness.api.get<{ items: { metadata: { name: string } }[] }>('/api/v1/nodes')
    ).items;
    const hosts = nodes.map(({ metadata }) => metadata.name).join();
    const wanted = async (): Promise<readonly string[]> =>
      (await harness.services())
        .filter(wants)
        .map(({ metadata, spec }) => {
          const ports = (spec.ports ?? []).map(({ port, nodePort }) => `${port}:${nodePort}`);
          return `${metadata.uid} ${ports.join()} ${hosts}`;
        })
        .sort();
    const standing = (): readonly string[] =>
      [...ledger.balancers].map(([uid, one]) => `${uid} ${one.ports} ${one.hosts}`).sort();
    await harness.until(
      'all is as it should be',
      async () => {
        const services = await harness.services();
        return (
          services.every(
            (one) => wants(one) === (one.status.loadBalancer?.ingress !== undefined),
          ) &&
          services.every(({ metadata }) => metadata.deletionTimestamp === undefined) &&
          standing().join() === (await wanted()).join()
        );
      },
      restMs,
    );
    assert.deepEqual(standing(), await wanted());
  } finally {
    await harness.stop();
  }
});

test(`no address of the local provider is given twice (seed ${seed})`, async () => {
  const random = createRandom(seed + 1);
  const harness = await startCloudHarness();
  try {
    const settings = { loadBalancerPool: '192.0.2.0/28' };
    await churn(harness, random, ({ transport }) =>
      harness.start({ makeProvider: makeLocalProvider, settings, send: transport.send }),
    );
    await harness.until(
      'every Service that wants an address has one of its own',
      async () => {
        const services = await harness.services();
        const given = services.flatMap(({ status }) =>
          (status.loadBalancer?.ingress ?? []).map(({ ip }) => ip),
        );
        return (
          new Set(given).size === given.length && given.length === services.filter(wants).length
        );
      },
      restMs,
    );
  } finally {
    await harness.stop();
  }
});
