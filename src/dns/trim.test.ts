import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { serviceFacts, sliceFacts } from './cluster/facts.ts';
import { trimService, trimSlice } from './trim.ts';

const slice: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'a',
    name: 'db-x',
    uid: 'u',
    resourceVersion: '7',
    labels: { 'kubernetes.io/service-name': 'db', other: 'label' },
    managedFields: [],
  },
  addressType: 'IPv4',
  endpoints: [
    { addresses: ['10.1.1.1'], conditions: { ready: true }, hostname: 'db-0', nodeName: 'n' },
    { addresses: ['10.1.1.2'], conditions: {}, targetRef: { kind: 'Pod', name: 'db-xyz' } },
    { addresses: ['10.1.1.3'], conditions: { ready: false } },
    { addresses: ['10.1.1.4'], conditions: {} },
  ],
  ports: [{ name: 'pg', port: 5432, protocol: 'TCP' }],
};

for (const endpointPodNames of [false, true]) {
  test(`what is left of a slice says the same about names, ${endpointPodNames ? 'with' : 'without'} pods`, () => {
    const options = { endpointPodNames };
    const named = (one: EndpointSlice): readonly string[] => {
      const { addresses = [], labels = [] } = sliceFacts(one, options) ?? {};
      return addresses.map((address, index) => `${labels[index] ?? ''} ${address}`).sort();
    };
    const trimmed = trimSlice(slice, options);
    assert.deepEqual(named(trimmed), named(slice));
    assert.equal(named(slice).length, 3);
    assert.equal(trimmed.metadata.resourceVersion, '7', 'by which repeats are known');
    assert.equal(trimmed.metadata.managedFields, undefined);
    assert.deepEqual(trimSlice(trimmed, options), trimmed, 'twice is the same as once');
  });
}

test('trimService(), trimSlice() and trimPod() keep all facts about names', () => {
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'a', name: 'web', annotations: { much: 'text' } },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1', 'fd00:96::1'],
      sessionAffinity: 'None',
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
    },
    status: { loadBalancer: {} },
  };
  const trimmed = trimService(service);
  assert.deepEqual(serviceFacts(trimmed), serviceFacts(service));
  assert.equal(trimmed.metadata.annotations, undefined);
});
