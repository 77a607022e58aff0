import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateRequest } from '../../../kinds/certificate-signing-request/parse-request.ts';
import {
  type CertificateSigningRequest,
  nodeClientSigner,
  nodeServingSigner,
} from '../../../kinds/certificate-signing-request/types.ts';
import { type ApprovalFacts, judgeRequest } from './judge-request.ts';

type Spec = CertificateSigningRequest['spec'];

const none = new Uint8Array(0);
const plain: CertificateRequest = {
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  ...{ hasOtherSubject: false, hasOtherNames: false, dnsNames: [], addresses: [] },
  ...{ publicKey: none, signed: none, signature: none, signatureAlgorithm: '' },
};
const joining: Spec = {
  signerName: nodeClientSigner,
  usages: ['digital signature', 'client auth'],
  username: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers'],
};
const own = { username: 'system:node:a', groups: ['system:nodes'] };
const renewing: Spec = { ...joining, ...own };
const serving: Spec = {
  ...renewing,
  signerName: nodeServingSigner,
  usages: ['digital signature', 'key encipherment', 'server auth'],
};
const named = { ...plain, dnsNames: ['a'], addresses: [Uint8Array.of(10, 0, 0, 1)] };
const mapped = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1);
const facts: ApprovalFacts = {
  may: () => true,
  addressesOf: (node) => (node === 'a' ? ['10.0.0.1', '10.0.0.2'] : undefined),
  source: '10.0.0.1',
  isTaken: (address) => address === '10.0.0.2',
};
const only = (...allowed: readonly string[]): Partial<ApprovalFacts> => ({
  may: (subresource) => allowed.includes(subresource),
});

type Case = readonly [string, Spec, CertificateRequest, boolean, Partial<ApprovalFacts>?];
const cases: readonly Case[] = [
  ['a token that may', joining, plain, true, only('nodeclient')],
  ['a token that may not', joining, plain, false, only('selfnodeclient')],
  ['a node that renews', renewing, plain, true, only('selfnodeclient')],
  ['a node that may not', renewing, plain, false, only()],
  ['a node by name alone', { ...renewing, groups: [] }, plain, false, only('selfnodeclient')],
  [
    'a node for another',
    renewing,
    { ...plain, commonName: 'system:node:b' },
    false,
    only('selfnodeclient'),
  ],
  ['more groups', joining, { ...plain, organizations: ['system:nodes', 'system:masters'] }, false],
  ['no group', joining, { ...plain, organizations: [] }, false],
  ['a name that is no node', joining, { ...plain, commonName: 'jane' }, false],
  ['more in the subject', joining, { ...plain, hasOtherSubject: true }, false],
  ['a client with names', joining, named, false],
  [
    'a client that would serve',
    { ...joining, usages: ['digital signature', 'client auth', 'server auth'] },
    plain,
    false,
  ],
  ['a client that would not sign', { ...joining, usages: ['client auth'] }, plain, false],
  [
    'another signer',
    { ...joining, signerName: 'kubernetes.io/kube-apiserver-client' },
    plain,
    false,
  ],
  ['a server with its own names', serving, named, true, only('selfnodeserver')],
  ['a server that may not', serving, named, false, only('selfnodeclient', 'nodeclient')],
  ['a server without names', serving, plain, false],
  [
    'a server asked for by a token',
    { ...serving, ...joining, signerName: nodeServingSigner },
    named,
    false,
  ],
  ['a server with the name of another', serving, { ...named, dnsNames: ['b'] }, false],
  [
    'a server with a strange address',
    serving,
    { ...named, addresses: [Uint8Array.of(10, 0, 0, 9)] },
    false,
  ],
  [
    'a server with an address of two',
    serving,
    { ...named, addresses: [Uint8Array.of(10, 0, 0, 2)] },
    false,
  ],
  [
    'a server with an address of two that it speaks from',
    serving,
    { ...named, addresses: [Uint8Array.of(10, 0, 0, 2)] },
    false,
    { source: '10.0.0.2' },
  ],
  [
    'a server with an address of its own that it does not speak from',
    serving,
    named,
    false,
    { source: '10.0.0.9' },
  ],
  ['a server without a known source address', serving, named, false, { source: '' }],
  [
    'a server with its name alone, without a known source address',
    serving,
    { ...plain, dnsNames: ['a'] },
    true,
    { source: '' },
  ],
  ['a server with its name in capitals', serving, { ...named, dnsNames: ['A.'] }, true],
  ['a server with its address in IPv6 clothes', serving, { ...named, addresses: [mapped] }, true],
  ['a server with a wildcard', serving, { ...named, dnsNames: ['*.default.svc'] }, false],
  ['a server with a wildcard it claims', serving, { ...named, dnsNames: ['*'] }, false],
  [
    'a server with a name that its node claims',
    serving,
    { ...named, dnsNames: ['KUBERNETES.default.svc'] },
    false,
    { addressesOf: () => ['10.0.0.1', 'kubernetes.default.svc'] },
  ],
  [
    'a server that would pass for a Service',
    { ...serving, username: 'system:node:web.default.svc' },
    { ...plain, commonName: 'system:node:web.default.svc', dnsNames: ['web.default.svc'] },
    false,
    { addressesOf: () => [] },
  ],
  ['a server with a mail address', serving, { ...named, hasOtherNames: true }, false],
  ['a server of a node that is not there', serving, named, false, { addressesOf: () => undefined }],
];

for (const [name, spec, csr, wanted, more] of cases) {
  test(`judgeRequest() ${wanted ? 'approves' : 'leaves to people'} ${name}`, () => {
    const request: CertificateSigningRequest = {
      kind: 'CertificateSigningRequest',
      apiVersion: 'certificates.k8s.io/v1',
      metadata: { name: 'x' },
      spec,
      status: {},
    };
    assert.equal(judgeRequest(request, csr, { ...facts, ...more }).approved, wanted);
  });
}
