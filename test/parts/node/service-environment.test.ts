// When a container learns of Services: what there is at its start, all of it, and nothing later.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Transport } from '../../../src/client/transport.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };
const services = '/api/v1/namespaces/default/services';
const printVariables = "env | grep -E '^(EARLY|LATE)_SERVICE_HOST=' | sort";
const shell = (script: string): object => ({
  name: 'app',
  image: 'process',
  command: ['sh', '-c', script],
});
const isDone = ({ status: { phase } }: Pod): boolean => phase === 'Succeeded';

test(
  'a container has the Services of its start until it is restarted (ENV-10)',
  limit,
  async (t) => {
    const { api, run, until } = await startNodeHarness(t);
    // Pods see no directory of the machine but those that are mounted.
    const shared = mkdtempSync(join(tmpdir(), 'fairlead-shared-'));
    t.after(() => rmSync(shared, { recursive: true }));
    const log = (name: string, query = ''): Promise<string> =>
      api.get(`${pods}/${name}/log${query}`);
    const make = (name: string, clusterIP: string): Promise<unknown> =>
      api.post(services, { metadata: { name }, spec: { clusterIP, ports: [{ port: 80 }] } });
    const go = '/shared/go';
    await make('early', '10.96.5.1');
    // The first run exits on a signal of the test, the next one keeps running.
    const script = `${printVariables}; [ -e ${go} ] && exec sleep 60; until [ -e ${go} ]; do sleep 0.02; done; exit 1`;
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
    await run('old', {
      containers: [{ ...shell(script), volumeMounts }],
      volumes: [{ name: 'shared', hostPath: { path: shared } }],
    });
    const isRun =
      (count: number) =>
      (pod: Pod): boolean => {
        const [app] = pod.status.containerStatuses ?? [];
        return app?.restartCount === count && app.state.running !== undefined;
      };
    await until('old', isRun(0));
    await make('late', '10.96.5.2');
    const early = 'EARLY_SERVICE_HOST=10.96.5.1\n';
    const both = `${early}LATE_SERVICE_HOST=10.96.5.2\n`;
    // Once a new pod knows of it, the agent does; it may hear of the pod first.
    const newPod = async (name: string): Promise<string> => {
      await run(name, { restartPolicy: 'Never', containers: [shell(printVariables)] });
      await until(name, isDone);
      return log(name);
    };
    for (let n = 0; (await newPod(`new-${n}`)) !== both; n += 1);
    writeFileSync(join(shared, 'go'), '');
    await until('old', isRun(1));
    assert.equal(await log('old', '?previous=true'), early);
    while ((await log('old')) !== both) await api.ping();
  },
);

test('no pod is started before the agent has read all Services (ENV-12)', limit, async (t) => {
  const held: (() => void)[] = [];
  let isHolding = false;
  let noticed = (): void => {};
  const intercept =
    (send: Transport['send']): Transport['send'] =>
    async (request) => {
      if (isHolding && request.path.startsWith('/api/v1/services')) {
        noticed();
        await new Promise<void>((resolve) => held.push(resolve));
      }
      return send(request);
    };
  const { api, run, until, stopNode, startAgain } = await startNodeHarness(t, { intercept });
  await stopNode();
  await api.post(services, {
    metadata: { name: 'early' },
    spec: { clusterIP: '10.96.5.1', ports: [{ port: 80 }] },
  });
  isHolding = true;
  const listed = new Promise<void>((resolve) => {
    noticed = resolve;
  });
  await run('waits', { restartPolicy: 'Never', containers: [shell(printVariables)] });
  const starting = startAgain();
  try {
    await listed;
    // Whatever else the agent does at its start, it has the time for it.
    for (let round = 0; round < 50; round += 1) await api.ping();
    assert.deepEqual((await api.get<Pod>(`${pods}/waits`)).status.containerStatuses ?? [], []);
  } finally {
    isHolding = false;
    for (const release of held) release();
  }
  await starting;
  await until('waits', isDone);
  assert.equal(await api.get(`${pods}/waits/log`), 'EARLY_SERVICE_HOST=10.96.5.1\n');
});
