import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { examplePort, exampleService } from './example.ts';
import type { ServicePort } from './types.ts';
import { validatePorts, validatePortUse } from './validate-ports.ts';

test('validatePorts() checks named target ports and application protocols', () => {
  const port = examplePort({ targetPort: '8080', appProtocol: 'a/b/c' });
  const wrong = validatePorts([port]);
  assert.deepEqual(
    wrong.map((error) => error.field),
    ['spec.ports[0].targetPort', 'spec.ports[0].appProtocol'],
  );
  assert.equal(wrong[0]?.detail, 'must contain at least one letter (a-z)');
});

test('validatePorts() accepts the same port under two protocols', () => {
  const ports = [examplePort({ name: 't' }), examplePort({ name: 'u', protocol: 'UDP' })];
  assert.deepEqual(validatePorts(ports), []);
});

const use = (ports: readonly ServicePort[]): readonly string[] =>
  validatePortUse(exampleService({ spec: { type: 'NodePort', ports } })).map(errorText);

test('validatePortUse() accepts a shared node port of different protocols only', () => {
  const tcp = examplePort({ nodePort: 30001 });
  assert.deepEqual(use([tcp, examplePort({ port: 81, protocol: 'UDP', nodePort: 30001 })]), []);
  assert.deepEqual(use([tcp, examplePort({ port: 81, nodePort: 30001 })]), [
    'spec.ports[1].nodePort: Duplicate value: 30001',
  ]);
});
