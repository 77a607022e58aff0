import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { scaleOf, validateScale, withReplicas } from './scale.ts';

const deployment = {
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name: 'd', namespace: 'n', uid: 'u', resourceVersion: '7', labels: { a: 'b' } },
  spec: { replicas: 0, selector: { matchLabels: { b: '1', a: '2' } } },
  status: { replicas: 2 },
};

test('scaleOf() shows the size of a workload', () => {
  const scale = scaleOf(deployment);
  assert.deepEqual(scale, {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'd', namespace: 'n', uid: 'u', resourceVersion: '7' },
    spec: {},
    status: { replicas: 2, selector: 'a=2,b=1' },
  });
  const controller = {
    ...deployment,
    kind: 'ReplicationController',
    spec: { replicas: 3, selector: { app: 'x' } },
  };
  assert.deepEqual(scaleOf(controller).spec, { replicas: 3 });
  assert.equal(scaleOf(controller).status.selector, 'app=x');
});

test('withReplicas() changes the size and nothing else', () => {
  const scale = { ...scaleOf(deployment), spec: { replicas: 4 } };
  const scaled = withReplicas(deployment, scale);
  assert.deepEqual(scaled, { ...deployment, spec: { ...deployment.spec, replicas: 4 } });
});

test('validateScale() refuses negative sizes', () => {
  const scale = { ...scaleOf(deployment), spec: { replicas: -1 } };
  assert.deepEqual(validateScale(scale).map(errorText), [
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ]);
});
