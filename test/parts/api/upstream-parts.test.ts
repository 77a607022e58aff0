// What kube-scheduler and kube-controller-manager 1.36 ask of an API server before they begin: all collections of their informers, with
// the rights of their own users, and the config map of authentication.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ClusterRole } from '../../../src/kinds/cluster-role/types.ts';
import type { ConfigMap } from '../../../src/kinds/config-map/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 30_000;
let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const scheduler = [
  '/api/v1/namespaces',
  '/api/v1/nodes',
  '/api/v1/persistentvolumeclaims',
  '/api/v1/persistentvolumes',
  '/api/v1/pods',
  '/api/v1/replicationcontrollers',
  '/api/v1/services',
  '/apis/apps/v1/replicasets',
  '/apis/apps/v1/statefulsets',
  '/apis/policy/v1/poddisruptionbudgets',
  '/apis/resource.k8s.io/v1/deviceclasses',
  '/apis/resource.k8s.io/v1/resourceclaims',
  '/apis/resource.k8s.io/v1/resourceslices',
  '/apis/storage.k8s.io/v1/csidrivers',
  '/apis/storage.k8s.io/v1/csinodes',
  '/apis/storage.k8s.io/v1/csistoragecapacities',
  '/apis/storage.k8s.io/v1/storageclasses',
  '/apis/storage.k8s.io/v1/volumeattachments',
];
const manager = [
  ...scheduler,
  '/api/v1/configmaps',
  '/api/v1/endpoints',
  '/api/v1/limitranges',
  '/api/v1/resourcequotas',
  '/api/v1/secrets',
  '/api/v1/serviceaccounts',
  '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  '/apis/apps/v1/controllerrevisions',
  '/apis/apps/v1/daemonsets',
  '/apis/apps/v1/deployments',
  '/apis/autoscaling/v2/horizontalpodautoscalers',
  '/apis/batch/v1/cronjobs',
  '/apis/batch/v1/jobs',
  '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  '/apis/coordination.k8s.io/v1/leases',
  '/apis/discovery.k8s.io/v1/endpointslices',
  '/apis/networking.k8s.io/v1/ingresses',
  '/apis/networking.k8s.io/v1/servicecidrs',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/resource.k8s.io/v1/resourceclaimtemplates',
  '/apis/storage.k8s.io/v1/volumeattributesclasses',
];

for (const [user, paths] of [
  ['system:kube-scheduler', scheduler],
  ['system:kube-controller-manager', manager],
] as const) {
  test(`${user} lists and watches what its informers need`, { timeout }, async () => {
    const headers = { 'impersonate-user': user, accept: 'application/vnd.kubernetes.protobuf' };
    const refused: string[] = [];
    for (const path of paths) {
      const listed = await running.api.send({ method: 'GET', path, headers });
      const watch = `${path}?watch=1`;
      if (listed.status !== 200) refused.push(`${listed.status} ${path}`);
      const opened = await running.api.watch(watch, { 'impersonate-user': user });
      opened.close();
    }
    assert.deepEqual(refused, []);
  });
}

test('every controller of kube-controller-manager has its role', { timeout }, async () => {
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const { items } = await running.api.get<ObjectList<ClusterRole>>(path);
  const names = new Set(items.map(({ metadata }) => metadata.name));
  const controllers = [
    'attachdetach-controller',
    'certificate-controller',
    'clusterrole-aggregation-controller',
    'cronjob-controller',
    'daemon-set-controller',
    'deployment-controller',
    'device-taint-eviction-controller',
    'disruption-controller',
    'endpoint-controller',
    'endpointslice-controller',
    'endpointslicemirroring-controller',
    'ephemeral-volume-controller',
    'expand-controller',
    'generic-garbage-collector',
    'horizontal-pod-autoscaler',
    'job-controller',
    'legacy-service-account-token-cleaner',
    'namespace-controller',
    'node-controller',
    'persistent-volume-binder',
    'pod-garbage-collector',
    'pv-protection-controller',
    'pvc-protection-controller',
    'replicaset-controller',
    'replication-controller',
    'resource-claim-controller',
    'resourcequota-controller',
    'root-ca-cert-publisher',
    'route-controller',
    'selinux-warning-controller',
    'service-account-controller',
    'service-cidrs-controller',
    'service-controller',
    'statefulset-controller',
    'ttl-after-finished-controller',
    'ttl-controller',
    'validatingadmissionpolicy-status-controller',
    'volumeattributesclass-protection-controller',
  ];
  assert.deepEqual(
    controllers.filter((name) => !names.has(`system:controller:${name}`)),
    [],
  );
});

test('other servers learn which client certificates to trust', { timeout }, async () => {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  const send = (user: string) =>
    running.api.send<ConfigMap>({ method: 'GET', path, headers: { 'impersonate-user': user } });
  const { status, body } = await send('system:kube-scheduler');
  assert.equal(status, 200);
  assert.equal(body.data?.['client-ca-file'], testCredentials().authority.certificate);
  assert.equal((await send('jane')).status, 403);
});

test('writes of what this server does not keep say so, in every way', { timeout }, async () => {
  const collection = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
  const metadata = { name: 'ss' };
  const body = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata };
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  for (const call of [
    { method: 'POST', path: collection, body },
    { method: 'PUT', path: `${collection}/ss`, body },
    { method: 'PATCH', path: `${collection}/ss?fieldManager=helm`, body, headers: apply },
    { method: 'DELETE', path: collection },
  ]) {
    const answer = await running.api.send<Status>(call);
    assert.deepEqual([answer.status, answer.body.reason], [501, 'NotImplemented'], call.method);
    assert.match(answer.body.message ?? '', /autoscaling cannot be stored here: .*kubectl scale/);
  }
  const gone = await running.api.send<Status>({ method: 'DELETE', path: `${collection}/ss` });
  assert.equal(gone.status, 404);
});

test('OpenAPI describes them, so that kubectl explains them', { timeout }, async () => {
  const { body } = await running.api.send<{ components: { schemas: object } }>({
    method: 'GET',
    path: '/openapi/v3/apis/autoscaling/v2',
  });
  assert.ok('io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler' in body.components.schemas);
});
