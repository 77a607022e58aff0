// A manifest is predicted as kubectl applies it: the Service that the server has afterwards is the one that was predicted. With kubectl
// itself, client-side and server-side, and with our own apply.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { parseManifests } from '../../../src/cli/manifests/read-manifests.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { withMetadata } from '../../../src/meta/object.ts';
import { makeSnapshot, type SnapshotObjects } from '../../../src/snapshot/snapshot.ts';
import { predict } from '../../../src/what-if/predict.ts';
import type { ApiClient, ObjectList } from '../harness/api-client.ts';
import {
  findKubectls,
  type Kubectl,
  type KubectlProgram,
  kubeconfigText,
  openKubectl,
} from '../harness/kubectl.ts';
import { startMemoryServer } from '../harness/memory-server.ts';
import { runCommand } from '../harness/run-command.ts';

const timeout = 120_000;

const service = (spec: string, metadata = ''): string =>
  `{apiVersion: v1, kind: Service, metadata: {name: web${metadata}}, spec: {${spec}}}`;

const http = '{name: http, port: 80, targetPort: 8080}';
const https = '{name: https, port: 443, targetPort: 8443}';

type Case = { readonly title: string; readonly first: string; readonly second: string };

const cases: readonly Case[] = [
  {
    title: 'a port is added',
    first: service(`selector: {app: web}, ports: [${http}]`),
    second: service(`selector: {app: web}, ports: [${http}, ${https}]`),
  },
  {
    title: 'a port is removed',
    first: service(`selector: {app: web}, ports: [${http}, ${https}]`),
    second: service(`selector: {app: web}, ports: [${http}]`),
  },
  {
    title: 'the number of a port changes, and its node port stays',
    first: service(`type: NodePort, ports: [${http}]`),
    second: service(`type: NodePort, ports: [{name: http, port: 81, targetPort: 8080}]`),
  },
  {
    title: 'a field is removed',
    first: service(`sessionAffinity: ClientIP, selector: {app: web, tier: a}, ports: [${http}]`),
    second: service(`selector: {app: web}, ports: [${http}]`),
  },
  {
    title: 'a label and an annotation are removed',
    first: service(`ports: [${http}]`, ', labels: {a: b, c: d}, annotations: {x: why}'),
    second: service(`ports: [${http}]`, ', labels: {a: b}'),
  },
  {
    title: 'the type changes back',
    first: service(`type: LoadBalancer, externalTrafficPolicy: Local, ports: [${http}]`),
    second: service(`ports: [${http}]`),
  },
  {
    title: 'a traffic policy changes',
    first: service(`internalTrafficPolicy: Local, ports: [${http}]`),
    second: service(
      `internalTrafficPolicy: Cluster, trafficDistribution: PreferSameNode, ports: [${http}]`,
    ),
  },
];

type Applier = (text: string) => Promise<void>;

async function readServices(api: ApiClient): Promise<Partial<SnapshotObjects>> {
  const list = await api.get<ObjectList<Service>>('/api/v1/services');
  return { services: list.items.map((one) => ({ ...one, kind: 'Service', apiVersion: 'v1' })) };
}

/** What other changes of the object decide, and what the next apply needs. */
function comparable(one: Service | undefined): unknown {
  assert.ok(one !== undefined);
  const { labels = {}, annotations = {} } = one.metadata;
  const { 'kubectl.kubernetes.io/last-applied-configuration': _last, ...others } = annotations;
  return withMetadata(one, { name: 'web', labels, annotations: others });
}

async function compare(t: TestContext, one: Case, applierOf: (port: number) => Applier) {
  const { server, api, stop } = await startMemoryServer();
  t.after(stop);
  const apply = applierOf(server.address.port);
  await apply(one.first);
  const [manifest] = parseManifests(one.second, 'second.yaml');
  assert.ok(manifest !== undefined);
  const { after } = predict(
    makeSnapshot({
      objects: {
        namespaces: [
          {
            kind: 'Namespace',
            apiVersion: 'v1',
            metadata: { name: 'default' },
            spec: {},
            status: {},
          },
        ],
        ...(await readServices(api)),
      },
    }),
    [{ kind: 'manifest', text: '-f second.yaml', manifest }],
    { namespace: 'default', now: Date.now() },
  );
  await apply(one.second);
  const real = await api.get<Service>('/api/v1/namespaces/default/services/web');
  const predicted = after.objects.services.find(({ metadata }) => metadata.name === 'web');
  assert.deepEqual(comparable(predicted), comparable(real));
}

describe('predict() of a manifest is what the server makes of it', { timeout }, () => {
  let program: KubectlProgram | undefined;
  before(async () => {
    [program] = await findKubectls();
  });

  const kubectlWith =
    (t: TestContext, flags: readonly string[]) =>
    (port: number): Applier => {
      assert.ok(program !== undefined);
      const kubectl: Kubectl = openKubectl(t, program, port);
      return async (text) => {
        const { code, stderr } = await kubectl.run(
          ['apply', '-f', '-', ...flags],
          Buffer.from(text),
        );
        assert.equal(code, 0, stderr);
      };
    };

  const ownApply =
    (t: TestContext) =>
    (port: number): Applier => {
      const directory = mkdtempSync(join(tmpdir(), 'fairlead-apply-'));
      t.after(() => rmSync(directory, { recursive: true, force: true }));
      writeFileSync(join(directory, 'kubeconfig'), kubeconfigText(port));
      return async (text) => {
        writeFileSync(join(directory, 'manifest.yaml'), text);
        const ran = await runCommand('apply -f manifest.yaml --kubeconfig kubeconfig', directory);
        assert.equal(ran.code, 0, ran.err);
      };
    };

  for (const one of cases) {
    test(`with kubectl apply, where ${one.title}`, (t) => compare(t, one, kubectlWith(t, [])));
    test(`with kubectl apply --server-side, where ${one.title}`, (t) =>
      compare(t, one, kubectlWith(t, ['--server-side'])));
    test(`with fairlead apply, where ${one.title}`, (t) => compare(t, one, ownApply(t)));
  }
});
