import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Propagation } from '../../kinds/part/propagation.ts';
import { clusterSettings } from '../../snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../snapshot/index-snapshot.ts';
import { makeSnapshot } from '../../snapshot/snapshot.ts';
import { createCluster } from '../subject.ts';
import { rulesBehind } from './rules-behind.ts';

type Status = NonNullable<Propagation['status']>;

function found(status: Status | undefined): readonly string[] {
  const index = indexSnapshot(makeSnapshot({}));
  const cluster = createCluster({
    ...{ index, settings: clusterSettings(index), isLive: true, nowMs: 0, services: [] },
    isInScope: () => true,
    ...(status === undefined
      ? {}
      : {
          propagation: {
            kind: 'Propagation',
            apiVersion: 'parts.fairlead.dev/v1alpha1',
            metadata: { namespace: 'shop', name: 'web' },
            status,
          },
        }),
  });
  return rulesBehind
    .find(cluster)
    .map(
      ({ about, severity = rulesBehind.severity, message }) =>
        `${severity} ${about.kind} ${about.name}: ${message}`,
    );
}

const current = { kind: 'proxy', node: 'n1', state: 'Current' } as const;
const status = (more: Partial<Status>): Status => ({
  revision: '7',
  parts: [current],
  nodesWithoutProxy: [],
  ...more,
});

test('rulesBehind finds nothing where nothing is known, and where all is current', () => {
  assert.deepEqual(found(undefined), []);
  assert.deepEqual(found(status({})), []);
  // Another program is the proxy of this cluster.
  assert.deepEqual(found(status({ parts: [], nodesWithoutProxy: ['n1'] })), []);
});

test('rulesBehind finds proxies that are late, silent or missing', () => {
  const late = {
    kind: 'proxy',
    node: 'n2',
    state: 'Behind',
    behindRevisions: 3,
    behindMilliseconds: 12_400,
  } as const;
  const silent = {
    kind: 'dns',
    node: 'm1',
    state: 'NoAnswer',
    reason: 'no answer in 2 s',
  } as const;
  assert.deepEqual(found(status({ parts: [current, late, silent], nodesWithoutProxy: ['n3'] })), [
    'error Node n2: The node proxy on n2 lacks 3 changes of service shop/web for 12 s: connections there go by older endpoints',
    'warning Machine m1: The DNS server on m1 does not say which endpoints it uses: no answer in 2 s',
    'warning Node n3: No node proxy of node n3 is connected, and those of other nodes are: unless another program is the proxy there, its rules do not follow changes',
  ]);
});
