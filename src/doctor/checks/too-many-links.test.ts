import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleService } from '../../kinds/service/example.ts';
import { clusterSettings } from '../../snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../snapshot/index-snapshot.ts';
import { makeSnapshot } from '../../snapshot/snapshot.ts';
import { createCluster } from '../subject.ts';
import { tooManyLinks } from './too-many-links.ts';

function messages(services: number, name: string): readonly string[] {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
  const index = indexSnapshot(
    makeSnapshot({
      objects: {
        namespaces: [{ ...namespace, spec: {}, status: {} }],
        services: Array.from({ length: services }, (_, at) =>
          exampleService({ metadata: { name: `${name}${at}` } }),
        ),
      },
    }),
  );
  const cluster = createCluster({
    index,
    settings: clusterSettings(index),
    isLive: true,
    nowMs: 0,
    services: [],
    isInScope: () => true,
  });
  return tooManyLinks.find(cluster).map(({ message }) => message);
}

test('tooManyLinks finds a namespace whose variables take more than a megabyte', () => {
  assert.match(
    messages(2000, 'a'.repeat(55))[0] ?? '',
    /^Every container gets about 14000 variables \(/,
  );
});

test('tooManyLinks finds nothing in a namespace of as many short names, or fewer Services', () => {
  assert.deepEqual(messages(2000, 'a'), []);
  assert.deepEqual(messages(900, 'a'.repeat(55)), []);
});
