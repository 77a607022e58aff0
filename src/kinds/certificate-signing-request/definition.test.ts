import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { conditionText } from './conditions.ts';
import { certificateSigningRequestDefinition as definition } from './definition.ts';
import type { CertificateSigningRequest, CertificateSigningRequestSpec } from './types.ts';

const request =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQnJqQ0NBUmNDQVFBd0x6RVZNQk1HQTFVRUNnd01jM2x6ZEdWdE9tNXZaR1Z6TVJZd0ZBWURWUVFEREExegplWE4wWlcwNmJtOWtaVHBoTUlHZk1BMEdDU3FHU0liM0RRRUJBUVVBQTRHTkFEQ0JpUUtCZ1FEZk96bUlxSnh2CmIxcDNLU3BuREhJKzZiRmMxRWJYQzdXK3p1ZEhxc0FnSmt2bTFkd0RwMGcyZGtCSFk3a2VGMU81dVFrWWdoa3AKbWFwUVBtOFdJU0hVakpneEpZTmIzZzMzNGhNWDIwZFllYjNpYTVWNmJ3Wm1YK2hEKzdENGxYa2VUQUtudTFoQQpSUUFKOU0vN2JYa0ZMQjZjUndEWFRlWUhBdnpyZkIvVzR3SURBUUFCb0Q4d1BRWUpLb1pJaHZjTkFRa09NVEF3CkxqQXNCZ05WSFJFRUpUQWpnZ2xoTG1WNFlXMXdiR1dIQkFvQUFBR0hFUDBBQUFBQUFBQUFBQUFBQUFBQUFBRXcKRFFZSktvWklodmNOQVFFTEJRQURnWUVBejdpT2NCZUpVZStUenVoVXpXNE9TY0tOZncyQ3psdjRTdEJRTUJJbQo1UmtXTlZlbWw2KzlKcGJ1a1B4dVA1VWpHMGtSdUs3YWw2Y3B4dnUrbUlmaHArckZzQkRRdDc2K3A5V05wdEhiCnFjZU1nVTM4b2huQ0JOR1RGTFRwUENLT1BNcTlQVU5DV3ZBdzlXL2dGVGlsVFJKOThYSmNqS0VTaENSOWR3OHkKTUhVPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
const now = '2026-01-02T03:04:05Z';

function csr(
  spec: Partial<CertificateSigningRequestSpec> = {},
  status: CertificateSigningRequest['status'] = {},
): CertificateSigningRequest {
  return {
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    metadata: { name: 'a' },
    spec: { request, signerName: 'example.com/x', usages: ['client auth'], ...spec },
    status,
  };
}

const condition = (type: string, status = 'True') => ({
  ...{ type, status, reason: 'R', message: 'm' },
  ...{ lastUpdateTime: null, lastTransitionTime: null },
});

const invalid: readonly (readonly [string, Partial<CertificateSigningRequestSpec>, RegExp])[] = [
  ['no request', { request: '' }, /^spec.request: Invalid value: "": PEM block type must be/],
  ['no usages', { usages: [] }, /^spec.usages: Required value$/],
  ['a usage twice', { usages: ['any', 'any'] }, /^spec.usages\[1\]: Duplicate value: "any"$/],
  ['a usage of its own', { usages: ['x'] }, /^spec.usages\[0\]: Unsupported value: "x"/],
  [
    'the signer of old',
    { signerName: 'kubernetes.io/legacy-unknown' },
    /: the legacy signerName is not allowed via this API version$/,
  ],
  ['no signer', { signerName: '' }, /^spec.signerName: Required value$/],
  ['a signer without a path', { signerName: 'a.b' }, /fully qualified domain and path/],
  ['a signer without dots', { signerName: 'a/b' }, /at least two segments/],
  ['a short life', { expirationSeconds: 599 }, /less than 600 seconds/],
];

for (const [name, spec, want] of invalid) {
  test(`a request with ${name} is refused`, () => {
    const errors = definition.create.validateCreate(csr(spec)).map(errorText);
    assert.equal(errors.length, 1, errors.join('\n'));
    assert.match(errors[0] ?? '', want);
  });
}

test('the requester is the authenticated user, whatever the client sends', () => {
  const sent = csr({
    username: 'admin',
    groups: ['system:masters'],
    uid: '1',
    extra: { a: ['b'] },
  });
  const user = { name: 'me', groups: ['g'] };
  const { spec, status } = definition.create.prepareCreate?.(sent, { now, user }) ?? sent;
  assert.deepEqual(spec, { ...csr().spec, username: 'me', groups: ['g'] });
  assert.deepEqual(status, {});
});

const rulesOf = (name: string) => {
  const found = definition.subresources?.find((one) => one.name === name)?.rules;
  assert.ok(found?.prepareUpdate);
  return { prepare: found.prepareUpdate, validate: found.validateUpdate };
};

test('conditions Approved and Denied change through approval only, and are permanent', () => {
  const wanted = csr({}, { conditions: [condition('Approved')], certificate: 'x' });
  const approval = rulesOf('approval');
  const approved = approval.prepare(csr(), wanted, { now });
  assert.equal(approved.status.certificate, undefined);
  assert.equal(approved.status.conditions?.[0]?.lastUpdateTime, now);
  assert.deepEqual(approval.validate(csr(), approved), []);
  assert.match(approval.validate(approved, csr()).map(errorText).join(), /may not remove/);
  const both = csr({}, { conditions: [condition('Approved'), condition('Denied')] });
  assert.deepEqual(approval.validate(csr(), both).map(errorText), [
    'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ]);
  const no = csr({}, { conditions: [condition('Approved', 'False')] });
  assert.match(approval.validate(csr(), no).map(errorText).join(), /Unsupported value: "False"/);
});

test('a status write does not add, remove or change an approval', () => {
  const { prepare, validate } = rulesOf('status');
  const write = (before: CertificateSigningRequest, ...types: string[]) => {
    const sent = csr({}, { conditions: types.map((type) => condition(type)) });
    const after = prepare(before, sent, { now });
    return { after, errors: validate(before, after).map(errorText) };
  };
  assert.deepEqual(write(csr(), 'Approved').errors, [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
  const stamp = { lastUpdateTime: now, lastTransitionTime: now };
  const approved = csr({}, { conditions: [{ ...condition('Approved'), reason: 'Old', ...stamp }] });
  assert.deepEqual(write(approved).errors, [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
  const { after, errors } = write(approved, 'Failed', 'Approved');
  assert.deepEqual(errors, []);
  assert.deepEqual(
    after.status.conditions?.map(({ type, reason }) => `${type} ${reason}`),
    ['Failed R', 'Approved Old'],
  );
});

const wrongCertificates: readonly (readonly [string, string, string])[] = [
  ['no block', 'x', 'must contain at least one CERTIFICATE PEM block'],
  [
    'a block of another type',
    '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n',
    'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
  ],
  [
    'a block with headers',
    '-----BEGIN CERTIFICATE-----\na: b\n\nAA==\n-----END CERTIFICATE-----\n',
    'no PEM block headers are permitted',
  ],
];

for (const [name, pem, want] of wrongCertificates) {
  test(`a certificate with ${name} is refused`, () => {
    const wrong = csr({}, { certificate: Buffer.from(pem).toString('base64') });
    assert.deepEqual(rulesOf('status').validate(csr(), wrong).map(errorText), [
      `status.certificate: Invalid value: "<certificate data>": ${want}`,
    ]);
  });
}

test('the certificate must be valid PEM, and is immutable', () => {
  const { validate } = rulesOf('status');
  const pem = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
  const issued = csr({}, { certificate: Buffer.from(pem).toString('base64') });
  assert.deepEqual(validate(csr(), issued), []);
  assert.match(
    validate(issued, csr()).map(errorText).join(),
    /^status.certificate: Forbidden: updates may not modify existing certificate content$/,
  );
  const wrong = csr({}, { certificate: 'AAAA' });
  assert.match(
    validate(csr(), wrong).map(errorText).join(),
    /^status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block$/,
  );
});

test('the condition column shows the state of a request', () => {
  const at = (...types: string[]) =>
    conditionText(csr({}, { conditions: types.map((type) => condition(type)) }));
  assert.deepEqual([at(), at('Approved'), at('Denied')], ['Pending', 'Approved', 'Denied']);
  assert.equal(at('Approved', 'Failed'), 'Approved,Failed');
  assert.equal(at('Failed'), 'Pending,Failed');
  const certificate = 'AA==';
  const issued = csr({}, { certificate, conditions: [condition('Approved')] });
  assert.equal(conditionText(issued), 'Approved,Issued');
});
