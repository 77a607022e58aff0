// Signs the certificate of an approved request.
import { createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto';
import {
  type CertificateRequest,
  parseRequestField,
} from '../../../kinds/certificate-signing-request/parse-request.ts';
import {
  type CertificateSigningRequest,
  clientSigner,
  nodeClientSigner,
  nodeServingSigner,
} from '../../../kinds/certificate-signing-request/types.ts';
import { mastersGroup } from '../../access/known-users.ts';
import { authoritySubject } from '../authority.ts';
import { type CertificateUse, certifyKey, type KeyPair } from '../x509.ts';
import { namesOf } from './judge-request.ts';

export type SigningTerms = {
  readonly authority: KeyPair;
  readonly now: number;
  readonly maxMs?: number;
};

export type SignResult = { readonly certificate: string } | { readonly problem: string };

/** Upstream's --cluster-signing-duration. */
export const maxCertificateMs = 365 * 24 * 3600 * 1000;
/**
 * Certificates are valid from shortly before their creation, for machines whose clocks are behind. For short-lived ones the
 * margin is smaller: otherwise they would be due for renewal from the start.
 */
const clockSkewMs = 5 * 60 * 1000;
const clockSkewPart = 1 / 96;

const usesOfSigners: ReadonlyMap<string, CertificateUse> = new Map([
  [clientSigner, 'client'],
  [nodeClientSigner, 'client'],
  [nodeServingSigner, 'server'],
]);

/** Whether this server signs for the name. */
export const isOurSigner = (name: string): boolean => usesOfSigners.has(name);

export function signRequest(
  { spec }: CertificateSigningRequest,
  { authority, now, maxMs = maxCertificateMs }: SigningTerms,
): SignResult {
  const csr = parseRequestField(spec.request ?? '');
  const use = usesOfSigners.get(spec.signerName);
  if (csr === undefined || use === undefined) return { problem: 'the request cannot be read' };
  const problem = problemOf(csr, spec, use);
  if (problem !== undefined) return { problem };
  const key = readKey(csr.publicKey);
  if (key === undefined || !isSignedBy(csr, key)) {
    return { problem: 'the request is not signed by the key that it names' };
  }
  const wantedMs = (spec.expirationSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const authorityEnd = Date.parse(new X509Certificate(authority.certificate).validTo);
  const end = Math.min(now + Math.min(wantedMs, maxMs), authorityEnd);
  const certificate = certifyKey(
    {
      subject: { commonName: csr.commonName, organizations: csr.organizations },
      use,
      names: use === 'server' ? namesOf(csr) : [],
      notBefore: new Date(now - Math.min(clockSkewMs, (end - now) * clockSkewPart)),
      notAfter: new Date(end),
      issuer: { subject: authoritySubject, privateKey: authority.privateKey },
    },
    key,
  );
  return { certificate };
}

/** Why the request cannot be signed even when it is approved: each signer has its own restrictions. */
function problemOf(
  csr: CertificateRequest,
  { signerName, usages = [] }: CertificateSigningRequest['spec'],
  use: CertificateUse,
): string | undefined {
  if (csr.commonName === '') return 'the subject has no common name';
  if (csr.hasOtherSubject) return 'the subject may have a common name and organizations only';
  if (csr.hasOtherNames) return 'only DNS names and addresses can be certified';
  if (csr.organizations.includes(mastersGroup)) {
    return `the group "${mastersGroup}" cannot be requested`;
  }
  const isForNode =
    csr.commonName.startsWith('system:node:') && csr.organizations.join() === 'system:nodes';
  if (signerName !== clientSigner && !isForNode) return 'the subject is no node';
  const end = use === 'server' ? 'server auth' : 'client auth';
  if (!usages.includes(end)) return `the usages must have "${end}"`;
  const allowed = ['digital signature', 'key encipherment', end];
  const other = usages.find((usage) => !allowed.includes(usage));
  return other === undefined ? undefined : `the signer does not certify keys for "${other}"`;
}

function readKey(spki: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch {
    // The client's bytes are not a key: OpenSSL has many codes for that, and all are answered alike.
    return undefined;
  }
}

/** Hash by object identifier: ECDSA and RSA with SHA-2. Ed25519 has none of its own. */
const hashes: Readonly<Record<string, string | null>> = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.3.101.112': null,
};

/** Proof of possession of the private key: otherwise a name could be bound to the key of another client. */
function isSignedBy(
  { signatureAlgorithm, signed, signature }: CertificateRequest,
  key: KeyObject,
): boolean {
  const hash = hashes[signatureAlgorithm];
  if (hash === undefined) return false;
  try {
    return verify(hash, signed, { key, dsaEncoding: 'der' }, signature);
  } catch {
    // The algorithm does not fit the key, or the signature is malformed: either way it is not valid.
    return false;
  }
}
