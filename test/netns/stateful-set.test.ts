// A StatefulSet and a DaemonSet in a real `up`: members find each other by name and have their volumes, through roll-outs, scaling and the
// death of everything, and no ordinal ever runs twice.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { root } from '../lanes/running-server.ts';
import { endWith, makeDirectory, removeDirectory, startUp, type Up, until } from './up-harness.ts';

const timeout = 300_000;
const flags = ['--nodes', '2'];

/** Members of other tests on this machine may have the same names. */
const mark = `stateful-set-test-${process.pid}`;

/** The programs of members that run now on this machine, by the names of their pods. */
function runningMembers(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((pid) => {
      const read = (file: string): string => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, 'utf8');
        } catch {
          // It has ended meanwhile.
          return '';
        }
      };
      if (!read('cmdline').includes('process.env.HOSTNAME')) return [];
      const environment = read('environ').split('\0');
      if (!environment.includes(`RUN=${mark}`)) return [];
      const hostname = environment.find((one) => /^HOSTNAME=peer-[0-9]+$/.test(one));
      return hostname?.slice('HOSTNAME='.length) ?? [];
    });
}

/** Checks the programs again and again; returns the names that were seen twice at once. */
function watchForTwins(): { readonly found: () => readonly string[]; readonly stop: () => void } {
  const twins = new Set<string>();
  let checks = 0;
  const timer = setInterval(() => {
    checks += 1;
    const names = runningMembers();
    for (const name of names) if (names.filter((one) => one === name).length > 1) twins.add(name);
  }, 20);
  return {
    found() {
      assert.ok(checks > 10, 'it has hardly checked');
      return [...twins];
    },
    stop: () => clearInterval(timer),
  };
}

/** Each member writes its name into its volume whenever it starts. */
const keeper = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'keeper' },
  spec: {
    serviceName: 'keepers',
    replicas: 2,
    selector: { matchLabels: { app: 'keeper' } },
    template: {
      metadata: { labels: { app: 'keeper' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            ...{ name: 'keeper', image: 'process' },
            command: ['sh', '-c', 'hostname >> /data/starts; sleep 100000'],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
      },
    ],
  },
};

/** Each volume has been with its member for so many starts, and with no other. */
async function assertStarts(up: Up, counts: readonly number[]): Promise<void> {
  for (const [ordinal, count] of counts.entries()) {
    const name = `keeper-${ordinal}`;
    // The member may not have written yet.
    const starts = await until(async () => {
      const text = await up.kubectl('exec', name, '--', 'cat', '/data/starts').catch(() => '');
      const names = text.split('\n').filter(Boolean);
      return names.length >= count ? names : undefined;
    });
    assert.deepEqual(
      starts,
      Array.from({ length: count }, () => name),
    );
  }
}

function markedExample(): string {
  const text = readFileSync(join(root, 'examples/stateful-set.yaml'), 'utf8');
  const marked = text.replace(/^( +)image: process$/m, `$&\n$1env: [{name: RUN, value: ${mark}}]`);
  assert.notEqual(marked, text);
  return marked;
}

const rolledOut = (up: Up, set: string): Promise<string> =>
  up.kubectl('rollout', 'status', set, '--timeout=120s');

/** Each of three members asks each by its full name. */
async function assertAllFindAll(up: Up): Promise<void> {
  const urls = members.map((name) => `http://${name}.peers.default.svc.cluster.local:8080`);
  const program = `Promise.all(${JSON.stringify(urls)}.map((url) => fetch(url).then((a) => a.text()))).then((all) => process.stdout.write(all.join('')))`;
  for (const name of members) {
    // A name follows its pod within moments.
    const found = await until(async () => {
      const answered = await up.kubectl('exec', name, '--', 'node', '-e', program).catch(() => '');
      const names = answered.split('\n').filter(Boolean);
      return names.length === members.length ? names : undefined;
    });
    assert.deepEqual(found, members);
  }
}

const members = ['peer-0', 'peer-1', 'peer-2'];

const version = (up: Up, pod: string): Promise<string> =>
  up.kubectl('exec', pod, '--', 'sh', '-c', 'echo v$VERSION');

async function podNames(up: Up): Promise<string> {
  return up.kubectl('get', 'pods', '-l', 'app=peer', '-o', 'jsonpath={.items[*].metadata.name}');
}

async function rollOutAndBack(up: Up): Promise<void> {
  await up.kubectl('set', 'env', 'statefulset/peer', 'daemonset/agent', 'VERSION=2');
  await rolledOut(up, 'statefulset/peer');
  await rolledOut(up, 'daemonset/agent');
  assert.equal(await version(up, 'peer-0'), 'v2\n');
  assert.match(await up.kubectl('rollout', 'history', 'statefulset/peer'), /\n1 .*\n2 /);
  await up.kubectl('rollout', 'undo', 'statefulset/peer');
  await up.kubectl('rollout', 'undo', 'daemonset/agent');
  await rolledOut(up, 'statefulset/peer');
  await rolledOut(up, 'daemonset/agent');
  assert.equal(await version(up, 'peer-0'), 'v\n');
  assert.match(await up.kubectl('rollout', 'history', 'daemonset/agent'), /\n2 .*\n3 /);
  await assertAllFindAll(up);
}

async function rollOutCanary(up: Up): Promise<void> {
  const partition = (at: number): string =>
    JSON.stringify({ spec: { updateStrategy: { rollingUpdate: { partition: at } } } });
  await up.kubectl('patch', 'statefulset', 'peer', '-p', partition(2));
  await up.kubectl('set', 'env', 'statefulset/peer', 'VERSION=canary');
  await rolledOut(up, 'statefulset/peer');
  assert.equal(await version(up, 'peer-1'), 'v\n');
  assert.equal(await version(up, 'peer-2'), 'vcanary\n');
  await up.kubectl('patch', 'statefulset', 'peer', '-p', partition(0));
  await rolledOut(up, 'statefulset/peer');
  assert.equal(await version(up, 'peer-0'), 'vcanary\n');
}

async function scale(up: Up): Promise<void> {
  await assertStarts(up, [1, 1]);
  await up.kubectl('scale', 'statefulset/peer', 'statefulset/keeper', '--replicas=1');
  await until(async () => (await podNames(up)) === 'peer-0' || undefined);
  await up.kubectl('wait', '--for=delete', 'pod/keeper-1', '--timeout=60s');
  await up.kubectl('scale', 'statefulset/peer', '--replicas=3');
  await up.kubectl('scale', 'statefulset/keeper', '--replicas=2');
  await rolledOut(up, 'statefulset/peer');
  await rolledOut(up, 'statefulset/keeper');
  await assertAllFindAll(up);
  await assertStarts(up, [1, 2]);
}

async function survivesRestart(up: Up): Promise<Up> {
  await up.kubectl('set', 'env', 'statefulset/peer', 'VERSION=3');
  await until(async () => {
    const updated = 'jsonpath={.status.updatedReplicas}';
    return (await up.kubectl('get', 'statefulset', 'peer', '-o', updated)) === '1' || undefined;
  });
  await endWith(up, 'SIGKILL');
  const again = await startUp('root', up.directory, flags);
  await rolledOut(again, 'statefulset/peer');
  await rolledOut(again, 'daemonset/agent');
  assert.equal(await podNames(again), members.join(' '));
  assert.equal(await version(again, 'peer-0'), 'v3\n');
  await assertAllFindAll(again);
  await assertStarts(again, [2, 3]);
  return again;
}

describe('sets in up', { timeout }, () => {
  let directory: string;
  let up: Up;
  let watch: ReturnType<typeof watchForTwins>;

  before(async () => {
    directory = makeDirectory('root');
    watch = watchForTwins();
    up = await startUp('root', directory, flags);
    const volumes = join(directory, 'keeper.json');
    writeFileSync(volumes, JSON.stringify(keeper));
    const marked = join(directory, 'peer.yaml');
    writeFileSync(marked, markedExample());
    await up.kubectl('apply', '-f', marked, '-f', 'examples/daemon-set.yaml', '-f', volumes);
    await rolledOut(up, 'statefulset/peer');
    await rolledOut(up, 'statefulset/keeper');
    await rolledOut(up, 'daemonset/agent');
  });
  after(async () => {
    watch.stop();
    if (up?.process.exitCode === null && up.process.signalCode === null)
      await endWith(up, 'SIGTERM');
    removeDirectory(directory);
  });

  test('members find each other by name', async () => {
    await assertAllFindAll(up);
    assert.deepEqual([...runningMembers()].sort(), members);
  });
  test('a DaemonSet has a pod on every node', async () => {
    const path = 'jsonpath={.items[*].spec.nodeName}';
    const nodes = await up.kubectl('get', 'pods', '-l', 'app=agent', '-o', path);
    assert.deepEqual(nodes.split(' ').sort(), ['node-1', 'node-2']);
  });
  test('they roll out and back with their names', () => rollOutAndBack(up));
  test('a partition rolls out to the highest ordinals only', () => rollOutCanary(up));
  test('they scale down from the highest ordinal and up again', () => scale(up));
  test('they survive kill -9 of everything in the middle of a roll-out', async () => {
    up = await survivesRestart(up);
  });
  test('no ordinal ever ran twice', () => assert.deepEqual(watch.found(), []));
});
