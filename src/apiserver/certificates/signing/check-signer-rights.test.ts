import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateSigningRequestDefinition as definition } from '../../../kinds/certificate-signing-request/definition.ts';
import type { CertificateSigningRequest } from '../../../kinds/certificate-signing-request/types.ts';
import { clusterRoleDefinition } from '../../../kinds/cluster-role/definition.ts';
import { isForbidden } from '../../../meta/api-error.ts';
import { createAuthorizer } from '../../access/authorize.ts';
import { exampleReader } from '../../access/example.ts';
import { allow, clusterRole, clusterRoleBinding, user } from '../../access/role-objects.ts';
import type { WriteAdmission } from '../../admission/admission.ts';
import { makeCertificateRequest } from '../x509.ts';
import { checkSignerRights } from './check-signer-rights.ts';

const group = 'certificates.k8s.io';
const grants = [
  ['approver', allow('approve', group, 'signers', 'a.b/c')],
  ['domain', allow('approve sign', group, 'signers', 'a.b/*')],
  ['other', allow('approve sign', group, 'signers', 'a.b/d')],
  ['signer', allow('sign', group, 'signers', 'a.b/c')],
] as const;
const authorizer = createAuthorizer(
  exampleReader(
    grants.flatMap(([name, rule]) => [
      clusterRole(name, [rule]),
      clusterRoleBinding(name, name, [user(name)]),
    ]),
  ),
);

function csr(more: Partial<CertificateSigningRequest> = {}): CertificateSigningRequest {
  return {
    kind: 'CertificateSigningRequest',
    apiVersion: `${group}/v1`,
    metadata: { name: 'x' },
    spec: { signerName: 'a.b/c' },
    status: {},
    ...more,
  };
}

function isRefused(name: string, subresource: string, more: Partial<WriteAdmission> = {}): boolean {
  const request: WriteAdmission = {
    user: { name, groups: [] },
    operation: 'update',
    definition,
    ...{ subresource, namespace: '', name: 'x' },
    before: csr(),
    after: csr(),
    dryRun: false,
    warn() {},
    annotate() {},
    ...more,
  };
  try {
    checkSignerRights(request, authorizer);
    return false;
  } catch (error) {
    assert.ok(isForbidden(error), String(error));
    return true;
  }
}

test('approving takes the right to approve for the signer, or for all of its domain', () => {
  assert.deepEqual(
    ['approver', 'domain', 'other', 'signer', 'unprivileged'].map((name) =>
      isRefused(name, 'approval'),
    ),
    [false, false, true, true, true],
  );
});

test('the signer that counts is the one that was asked, not one that is sent', () => {
  const after = csr({ spec: { signerName: 'a.b/d' } });
  assert.equal(isRefused('other', 'approval', { after }), true);
});

test('setting a certificate takes the right to sign; other changes of the status do not', () => {
  const after = csr({ status: { certificate: 'AA==' } });
  assert.deepEqual(
    ['signer', 'domain', 'approver'].map((name) => isRefused(name, 'status', { after })),
    [false, false, true],
  );
  assert.equal(isRefused('unprivileged', 'status'), false);
});

test('checkSignerRights() refuses requests for system:masters', () => {
  const { request } = makeCertificateRequest({
    subject: { commonName: 'me', organizations: ['system:masters'] },
  });
  const spec = {
    request: Buffer.from(request).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client',
  };
  const create = { operation: 'create', after: csr({ spec }) } as const;
  assert.equal(isRefused('unprivileged', '', create), true);
  assert.equal(isRefused('unprivileged', '', { ...create, after: csr() }), false);
});

test('other kinds pass', () => {
  assert.equal(isRefused('unprivileged', 'approval', { definition: clusterRoleDefinition }), false);
});
