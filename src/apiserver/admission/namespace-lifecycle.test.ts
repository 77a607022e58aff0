import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceDefinition } from '../../kinds/namespace/definition.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { isApiError, type Status } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { AdmissionRequest } from './admission.ts';
import { exampleFacts } from './example.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';

const namespaces: Readonly<Record<string, KubeObject['metadata']>> = {
  live: {},
  going: { deletionTimestamp: '2026-01-01T00:00:00Z' },
};

const reader: ObjectReader = {
  get: (resource, _namespace, name) => {
    const metadata = resource === 'namespaces' ? namespaces[name] : undefined;
    return metadata && { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } };
  },
  list: () => [],
  revision: () => 0,
};

function refused(act: () => void): Status | undefined {
  try {
    act();
  } catch (error) {
    if (isApiError(error)) return error.status;
    throw error;
  }
  return undefined;
}

type Target = Pick<AdmissionRequest, 'definition' | 'namespace' | 'name'>;

const admit = (operation: 'create' | 'delete', target: Target): Status | undefined =>
  refused(() =>
    namespaceLifecycle.mutate?.(
      {
        ...{ user: { name: 'u', groups: [] }, operation, subresource: '', dryRun: false },
        warn() {},
        annotate() {},
        ...target,
      },
      exampleFacts(reader),
    ),
  );

const create = (namespace: string): Status | undefined =>
  admit('create', { definition: serviceDefinition, namespace, name: 'web' });

test('namespaceLifecycle lets objects into a namespace that lives', () => {
  assert.equal(create('live'), undefined);
});

test('namespaceLifecycle asks nothing of kinds without a namespace', () => {
  const definition = nodeDefinition;
  assert.equal(admit('create', { definition, namespace: '', name: 'n' }), undefined);
});

test('namespaceLifecycle misses a namespace that is not there', () => {
  const status = create('nowhere');
  assert.equal(status?.code, 404);
  assert.equal(status?.message, 'namespaces "nowhere" not found');
});

test('namespaceLifecycle lets nothing new into a namespace that is going', () => {
  assert.deepEqual(create('going'), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message:
      'services "web" is forbidden: unable to create new content in namespace going because it is being terminated',
    reason: 'Forbidden',
    details: {
      name: 'web',
      kind: 'services',
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: 'namespace going is being terminated',
          field: 'metadata.namespace',
        },
      ],
    },
    code: 403,
  });
});

for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
  test(`namespaceLifecycle keeps the namespace ${name}`, () => {
    const target = { definition: namespaceDefinition, namespace: '', name };
    assert.equal(
      admit('delete', target)?.message,
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  });
}

test('namespaceLifecycle lets everything else go', () => {
  const target = { namespace: '', name: 'default' };
  assert.equal(admit('delete', { ...target, definition: serviceDefinition }), undefined);
  const own = { ...target, definition: namespaceDefinition, name: 'own' };
  assert.equal(admit('delete', own), undefined);
});
