// kubectl debug as people use it: ephemeral containers in pods that run.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { findKubectls, type Kubectl, openKubectl } from '../harness/kubectl.ts';
import { type NodeHarness, startNodeHarness } from '../harness/node-harness.ts';
import { waitForOutput } from '../harness/wait-for-output.ts';

const limit = { timeout: 90_000 };
/** An ordinary user cannot join the processes of another container. */
const asRoot = { ...limit, skip: process.getuid?.() === 0 ? false : 'needs root' };
/** What the container of the pod runs, by which its process is known. */
const seconds = '735173';
const listProcesses = "cat /proc/[0-9]*/cmdline | tr '\\0' ' '";

const debugState = ({ status }: Pod, name: string) =>
  status.ephemeralContainerStatuses?.find((one) => one.name === name)?.state;

for (const program of await findKubectls()) {
  const start = async (t: TestContext): Promise<{ harness: NodeHarness; kubectl: Kubectl }> => {
    const harness = await startNodeHarness(t);
    const kubectl = openKubectl(t, program, harness.server.server.address.port);
    const app = { name: 'app', image: 'process', command: ['sleep', seconds] };
    await harness.run('web', { terminationGracePeriodSeconds: 0, containers: [app] });
    await harness.until('web', isPodReady);
    return { harness, kubectl };
  };

  test(
    `${program.name}: kubectl debug attaches to a container in the process namespace of its target`,
    asRoot,
    async (t) => {
      const { harness, kubectl } = await start(t);
      const script = `read line; echo "got $line"; ${listProcesses}; exit 4`;
      const debug = kubectl.start([
        ...['debug', '-i', 'web', '--image=process', '--target=app', '-c', 'debugger'],
        ...['--', 'sh', '-c', script],
      ]);
      debug.stdin?.write('hello\n');
      await waitForOutput(debug.stdout, new RegExp(`got hello\\n.*sleep ${seconds}`, 's'));
      await once(debug, 'exit');
      const pod = await harness.until(
        'web',
        (one) => debugState(one, 'debugger')?.terminated !== undefined,
      );
      assert.equal(debugState(pod, 'debugger')?.terminated?.exitCode, 4);
      assert.ok(isPodReady(pod));
      const { stdout } = await kubectl.run(['logs', 'web', '-c', 'debugger']);
      assert.match(String(stdout), /^got hello\n/);
      // The message does not name the container, the reference does.
      const path = encodeURIComponent('spec.ephemeralContainers{debugger}');
      const events = `/api/v1/namespaces/default/events?fieldSelector=reason=Started,involvedObject.fieldPath=${path}`;
      while ((await harness.api.get<{ items: readonly KubeObject[] }>(events)).items.length === 0);
      // Not after the end of the agent either, which starts all others again.
      await harness.stopNode();
      await harness.startAgain();
      const after = await harness.until('web', (one) => {
        const [app] = one.status.containerStatuses ?? [];
        return app?.restartCount === 1 && app.state.running !== undefined;
      });
      const [debugStatus] = after.status.ephemeralContainerStatuses ?? [];
      assert.deepEqual(
        [debugStatus?.restartCount, debugStatus?.state.terminated?.exitCode],
        [0, 4],
      );
    },
  );

  test(
    `${program.name}: kubectl debug without a target has a process namespace of its own`,
    limit,
    async (t) => {
      const { harness, kubectl } = await start(t);
      const added = ['debug', 'web', '--image=process', '-c', 'own', '--', 'sleep', '1000'];
      assert.equal((await kubectl.run(added)).code, 0);
      await harness.until('web', (pod) => debugState(pod, 'own')?.running !== undefined);
      const inside = ['exec', 'web', '-c', 'own', '--', 'sh', '-c', `hostname; ${listProcesses}`];
      const { stdout } = await kubectl.run(inside);
      assert.match(String(stdout), /^web\n/);
      assert.match(String(stdout), /sleep 1000/);
      assert.doesNotMatch(String(stdout), new RegExp(seconds));
      assert.equal((await kubectl.run(['delete', 'pod', 'web'])).code, 0);
    },
  );
}
