import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '../../../kinds/certificate-signing-request/types.ts';
import { makeAuthority } from '../authority.ts';
import { type CertificateRequestSpec, makeCertificateRequest } from '../x509.ts';
import { signRequest } from './sign-request.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const authority = makeAuthority(now);
const node = { commonName: 'system:node:a', organizations: ['system:nodes'] };
const client = 'kubernetes.io/kube-apiserver-client-kubelet';
const serving = 'kubernetes.io/kubelet-serving';

type SigningCase = Partial<CertificateSigningRequest['spec']> & {
  readonly csr?: CertificateRequestSpec;
};

function sign({ csr = { subject: node }, ...more }: SigningCase = {}, maxMs?: number) {
  const { request } = makeCertificateRequest(csr);
  const spec = {
    request: Buffer.from(request).toString('base64'),
    signerName: client,
    usages: ['digital signature', 'client auth'],
    ...more,
  };
  const object: CertificateSigningRequest = {
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    metadata: { name: 'x' },
    spec,
    status: {},
  };
  return signRequest(object, { authority, now, ...(maxMs === undefined ? {} : { maxMs }) });
}

function signed(...options: Parameters<typeof sign>): X509Certificate {
  const result = sign(...options);
  if ('problem' in result) assert.fail(result.problem);
  return new X509Certificate(result.certificate);
}

const lifeMinutes = (certificate: X509Certificate): number =>
  (Date.parse(certificate.validTo) - now) / 60_000;

test('a certificate says what was asked for, and no more', () => {
  const made = signed();
  assert.equal(made.subject, 'O=system:nodes\nCN=system:node:a');
  assert.equal(made.subjectAltName, undefined);
  assert.deepEqual(made.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.equal(made.ca, false);
  assert.ok(made.verify(new X509Certificate(authority.certificate).publicKey));
});

test('a serving certificate has the names', () => {
  const csr = { subject: node, names: ['a', '10.0.0.1', 'fd00::1'] };
  const made = signed({ csr, signerName: serving, usages: ['digital signature', 'server auth'] });
  assert.equal(made.subjectAltName, 'DNS:a, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1');
});

test('its life is what is asked for, at most what is given, and never beyond the authority', () => {
  assert.equal(lifeMinutes(signed()), 365 * 24 * 60);
  assert.equal(lifeMinutes(signed({ expirationSeconds: 600 })), 10);
  assert.equal(lifeMinutes(signed({ expirationSeconds: 7200 }, 3_600_000)), 60);
  const end = Date.parse(new X509Certificate(authority.certificate).validTo);
  const made = signed({}, 100 * 365 * 24 * 3_600_000);
  assert.equal(Date.parse(made.validTo), end);
});

const refused: readonly (readonly [string, SigningCase, RegExp])[] = [
  ['a subject that is not a node', { csr: { subject: { commonName: 'x' } } }, /no node/],
  [
    'the masters',
    {
      csr: { subject: { commonName: 'x', organizations: ['system:masters'] } },
      signerName: 'kubernetes.io/kube-apiserver-client',
    },
    /system:masters/,
  ],
  ['a usage that is not its', { usages: ['client auth', 'cert sign'] }, /"cert sign"/],
  ['no usage of a client', { usages: ['digital signature'] }, /must have "client auth"/],
  ['something that is no request', { request: 'AAAA' }, /cannot be read/],
  ['another signer', { signerName: 'a.b/c' }, /cannot be read/],
];
for (const [name, options, problem] of refused) {
  test(`nothing is signed for ${name}`, () => {
    const result = sign(options);
    assert.match('problem' in result ? result.problem : 'signed', problem);
  });
}

test('nothing is signed for who does not have the key', () => {
  const { request } = makeCertificateRequest({ subject: node });
  const lines = request.split('\n');
  const der = Buffer.from(lines.slice(1, -2).join(''), 'base64');
  // The last byte is of the signature.
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
  const pem = [lines[0], der.toString('base64'), lines.at(-2), ''].join('\n');
  const result = sign({ request: Buffer.from(pem).toString('base64') });
  assert.match('problem' in result ? result.problem : 'signed', /not signed by the key/);
});
