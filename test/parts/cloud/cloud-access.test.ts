// The rights of examples/load-balancer-access.yaml are enough for the programs they are meant for.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { callApi } from '../../../src/client/api-call.ts';
import { resourcePath } from '../../../src/client/resource.ts';
import { resourceClient } from '../../../src/client/rest.ts';
import {
  announcerLabel,
  leaseName,
  leaseNamespace,
} from '../../../src/cloud/announce/lease-observer.ts';
import { startOwnLease } from '../../../src/cloud/announce/run-lease.ts';
import { makeLocalProvider } from '../../../src/cloud/providers/local/local-provider.ts';
import { endpointSliceDefinition } from '../../../src/kinds/endpoint-slice/definition.ts';
import { leaseDefinition } from '../../../src/kinds/lease/definition.ts';
import { nodeDefinition } from '../../../src/kinds/node/definition.ts';
import { serviceDefinition } from '../../../src/kinds/service/definition.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { type CloudHarness, servicePath, startCloudHarness } from '../harness/cloud-harness.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const paths: Readonly<Record<string, string>> = {
  ClusterRole: `${rbac}/clusterroles`,
  ClusterRoleBinding: `${rbac}/clusterrolebindings`,
  Role: `${rbac}/namespaces/kube-system/roles`,
  RoleBinding: `${rbac}/namespaces/kube-system/rolebindings`,
};

let harness: CloudHarness;
before(async () => {
  harness = await startCloudHarness();
  const text = await readFile('examples/load-balancer-access.yaml', 'utf8');
  for (const document of parseAllDocuments(text)) {
    const object = document.toJS() as KubeObject;
    const path = paths[object.kind ?? ''] ?? '';
    // The file is for clusters that do not have some of this from the start, as ours has.
    await harness.api.send({ method: 'DELETE', path: `${path}/${object.metadata.name}` });
    await harness.api.post(path, object);
  }
});
after(() => harness.stop());

const callerOf = (user: string) => ({
  transport: {
    send: harness.callAs({ user, groups: ['system:authenticated'] }),
    close: () => Promise.resolve(),
  },
  userAgent: 'test',
});

test('system:cloud-controller-manager serves a Service and lets it go', async () => {
  const { transport } = callerOf('system:cloud-controller-manager');
  harness.start({
    makeProvider: makeLocalProvider,
    settings: { loadBalancerPool: '192.0.2.1' },
    send: transport.send,
  });
  await harness.create('web');
  await harness.until('it is served', async () => (await harness.addresses('web')) !== '');
  await harness.until('the failure is reported', async () =>
    (await harness.events('web')).includes('EnsuredLoadBalancer: Ensured load balancer'),
  );
  await harness.api.delete(servicePath('web'));
  await harness.until('it is gone', async () => (await harness.service('web')) === undefined);
});

test('fairlead:announcer reads what it needs and keeps its lease', async () => {
  const caller = callerOf('fairlead:announcer');
  for (const type of [serviceDefinition, nodeDefinition, endpointSliceDefinition])
    await callApi(caller, { method: 'GET', path: resourcePath(type, {}) });
  const leases = resourceClient(caller, leaseDefinition);
  const list = () => leases.list({ namespace: leaseNamespace, labelSelector: announcerLabel });
  const stopping = new AbortController();
  const { clock } = harness;
  const { renewedAt, ended } = startOwnLease(
    {
      ...{ caller, clock, nodeName: 'n1', log: silentLog, leaseMs: 3000 },
      node: () => undefined,
      isReady: () => Promise.resolve(true),
      tried: () => {},
    },
    stopping.signal,
  );
  await harness.until('the lease is there', async () => (await list()).items.length === 1);
  await harness.until('it was renewed', async () => (renewedAt() ?? 0) > 0);
  const first = renewedAt() ?? 0;
  await harness.until('it was renewed again', async () => (renewedAt() ?? 0) > first);
  assert.deepEqual(
    (await list()).items.map(({ metadata, spec }) => [metadata.name, spec.holderIdentity]),
    [[leaseName('n1'), 'n1']],
  );
  stopping.abort();
  await ended;
  assert.deepEqual((await list()).items, []);
});
