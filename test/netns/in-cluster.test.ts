// A pod of `up` reaches the API with what it is given and nothing else: in-cluster configuration, as clients look for it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../lanes/running-server.ts';
import { unpackKubectl } from '../lanes/unpack-kubectl.ts';
import { endWith, makeDirectory, removeDirectory, startUp, type Up } from './up-harness.ts';

const timeout = 240_000;
const skip = process.getuid?.() === 0 ? false : 'needs root';

const client = pathToFileURL(join(root, 'node_modules/@kubernetes/client-node/dist/index.js'));
const script = `
import { CoreV1Api, KubeConfig } from '${client}';
const config = new KubeConfig();
config.loadFromCluster();
const api = config.makeApiClient(CoreV1Api);
const { items } = await api.listNamespacedPod({ namespace: config.getContextObject('inClusterContext').namespace });
console.log('client-node', items.map((pod) => pod.metadata.name).join());
const secrets = await api.listNamespacedSecret({ namespace: 'default' }).catch((error) => error.code);
console.log('secrets', secrets);
`;

const tree = { name: 'tree', mountPath: root.replace(/\/$/, ''), readOnly: true };
const pod = (name: string, command: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'process', command, volumeMounts: [tree] }],
    // Pods do not see where the programs of this test lie.
    volumes: [{ name: 'tree', hostPath: { path: tree.mountPath } }],
  },
});

const objects = (kubectl: string) => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'view' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  },
  pod('library', [process.execPath, '--input-type=module', '-e', script]),
  pod('kubectl', [kubectl, 'get', 'pods', '-o', 'name', '--cache-dir=/tmp/cache']),
];

describe('in-cluster configuration', { timeout, skip }, () => {
  const directory = makeDirectory('root');
  let up: Up;
  before(async () => {
    up = await startUp('root', directory, []);
    const file = join(directory, 'pods.json');
    const items = objects(await unpackKubectl());
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    // Right after the start: pods wait for the account of their namespace.
    await up.kubectl('apply', '-f', file);
  });
  after(async () => {
    await endWith(up, 'SIGTERM');
    removeDirectory(directory);
  });

  const outputOf = async (name: string): Promise<string> => {
    const done = '--for=jsonpath={.status.phase}=Succeeded';
    await up.kubectl('wait', done, `pod/${name}`, '--timeout=100s');
    return up.kubectl('logs', name);
  };

  test('a client library finds the server, and may do what its account may', async () => {
    const text = await outputOf('library');
    assert.match(text, /^client-node .*library/m);
    assert.match(text, /^secrets 403$/m);
  });

  test('kubectl inside a pod needs no configuration', async () => {
    assert.match(await outputOf('kubectl'), /^pod\/kubectl$/m);
  });
});
