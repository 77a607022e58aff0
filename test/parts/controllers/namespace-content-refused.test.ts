// A forbidden creation in a namespace is retried, not mistaken for a terminating namespace.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { Controller } from '../../../src/controllers/controller.ts';
import { rootCaPublisher } from '../../../src/controllers/root-ca-publisher/run.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { serviceAccountController } from '../../../src/controllers/service-account/run.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { startMemoryServer } from '../harness/memory-server.ts';

const cases: readonly {
  readonly controller: Controller;
  readonly resource: string;
  readonly name: string;
}[] = [
  { controller: rootCaPublisher, resource: 'configmaps', name: 'kube-root-ca.crt' },
  { controller: serviceAccountController, resource: 'serviceaccounts', name: 'default' },
];
const user = 'newcomer';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

for (const { controller, resource, name } of cases) {
  test(`${controller.name} retries a forbidden creation until it is allowed`, {
    timeout: 60_000,
  }, async (t) => {
    const server = await startMemoryServer();
    t.after(server.stop);
    const { api } = server;
    const grant = async (verbs: readonly string[], resources: readonly string[]) => {
      const role = `may-${verbs.join('-')}`;
      await api.post(`${rbac}/clusterroles`, {
        metadata: { name: role },
        rules: [{ apiGroups: [''], resources, verbs }],
      });
      await api.post(`${rbac}/clusterrolebindings`, {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      });
    };
    await grant(['list', 'watch'], ['namespaces', resource]);
    const call = createLocalCall(server.server.handle, {
      user,
      groups: ['system:authenticated'],
    });
    let reportRefused = (): void => {};
    const refused = new Promise<void>((resolve) => {
      reportRefused = resolve;
    });
    const stopping = new AbortController();
    const clock = createFakeClock();
    const running = startControllers({
      transport: {
        async send(request) {
          const response = await call(request);
          if (request.method === 'POST' && response.status === 403) reportRefused();
          return response;
        },
        close: () => Promise.resolve(),
      },
      ...{ log: silentLog, clock, signal: stopping.signal, authorityCertificate: 'CERTIFICATE' },
      controllers: [controller],
    });
    t.after(async () => {
      stopping.abort();
      await running;
    });
    await refused;
    await grant(['create'], [resource]);
    const path = `/api/v1/namespaces/default/${resource}/${name}`;
    let found = false;
    for (let tries = 0; tries < 600 && !found; tries += 1) {
      await clock.advance(500);
      found = (await api.send({ method: 'GET', path })).status === 200;
    }
    assert.ok(found);
  });
}
