import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { exampleService } from './example.ts';
import { type SpecChanges, withSpec } from './types.ts';
import { validateLoadBalancerClass, validateTrafficPolicies } from './validate-traffic.ts';

const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' } as const;

const policies = (spec: SpecChanges): readonly string[] =>
  validateTrafficPolicies(withSpec(exampleService(), spec)).map(errorText);

test('validateTrafficPolicies() requires a health check port where the policy needs one', () => {
  assert.deepEqual(policies(local), ['spec.healthCheckNodePort: Required value']);
  assert.deepEqual(policies({ ...local, healthCheckNodePort: 30100 }), []);
  assert.deepEqual(policies({ ...local, healthCheckNodePort: 70000 }), [
    'spec.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive',
  ]);
});

test('validateTrafficPolicies() requires policies where traffic is load balanced', () => {
  assert.deepEqual(policies({ type: 'NodePort', internalTrafficPolicy: undefined }), [
    'spec.externalTrafficPolicy: Required value',
    'spec.internalTrafficPolicy: Required value',
  ]);
  assert.deepEqual(policies({ type: 'ExternalName', internalTrafficPolicy: undefined }), []);
});

test('validateLoadBalancerClass() requires a qualified name', () => {
  const errors = (loadBalancerClass: string) =>
    validateLoadBalancerClass(exampleService({ spec: { ...local, loadBalancerClass } }));
  assert.deepEqual(errors('example.com/internal'), []);
  assert.equal(errors('Bad Class').length, 1);
});
