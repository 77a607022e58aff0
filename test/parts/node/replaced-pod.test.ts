// A pod that is deleted by force and created again under its name while the agent still ends the first one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transport, TransportRequest } from '../../../src/client/transport.ts';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { findKubectls, openKubectl } from '../harness/kubectl.ts';
import { type NodeHarness, pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 90_000 };
const spec = {
  terminationGracePeriodSeconds: 1,
  containers: [{ name: 'app', image: 'process', command: ['sleep', '1000'] }],
};

/** Holds back requests of the agent until they are let go. */
function holdBack(isHeld: (request: TransportRequest) => boolean) {
  let letGo: () => void = () => {};
  let arrive: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const intercept =
    (send: Transport['send']): Transport['send'] =>
    async (request) => {
      if (!isHeld(request)) return send(request);
      arrive();
      await released;
      return send(request);
    };
  return { intercept, arrived, letGo };
}

async function replace(harness: NodeHarness, spec: object): Promise<Pod> {
  await harness.api.send({ method: 'DELETE', path: `${pods}/web?gracePeriodSeconds=0` });
  await harness.isGone('web');
  await harness.run('web', spec);
  return harness.until('web', isPodReady);
}

const uidsOf = ({ node }: NodeHarness): readonly (string | undefined)[] =>
  node.workers().map((worker) => worker.pod().metadata.uid);

test(
  'a status write for a pod that was replaced ends, and so does its worker',
  limit,
  async (t) => {
    let first: string | undefined;
    const { intercept, arrived, letGo } = holdBack(
      ({ method, path, body }) =>
        method === 'PATCH' &&
        path.startsWith(`${pods}/web/status`) &&
        first !== undefined &&
        String(body).includes(first),
    );
    const harness = await startNodeHarness(t, { intercept });
    await harness.run('web', spec);
    first = (await harness.until('web', isPodReady)).metadata.uid;
    await harness.api.delete(`${pods}/web`);
    await arrived;
    const second = await replace(harness, spec);
    letGo();
    while (uidsOf(harness).length > 1) await harness.api.ping();
    assert.deepEqual(uidsOf(harness), [second.metadata.uid]);
  },
);

for (const program of await findKubectls()) {
  test(`${program.name}: exec leads to the new pod while the old one ends`, limit, async (t) => {
    const { intercept, arrived, letGo } = holdBack(
      ({ method, path }) => method === 'DELETE' && path.startsWith(`${pods}/web`),
    );
    const harness = await startNodeHarness(t, { intercept });
    const kubectl = openKubectl(t, program, harness.server.server.address.port);
    await harness.run('web', spec);
    await harness.until('web', isPodReady);
    await harness.api.delete(`${pods}/web`);
    await arrived;
    await replace(harness, spec);
    assert.equal(uidsOf(harness).length, 2);
    const { code, stderr } = await kubectl.run(['exec', 'web', '--', 'true']);
    assert.deepEqual([code, stderr], [0, '']);
    letGo();
    while (uidsOf(harness).length > 1) await harness.api.ping();
  });
}
