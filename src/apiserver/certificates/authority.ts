// The certificate authority of one installation, and what it issues.
import { nodesGroup, nodeUser } from '../access/known-users.ts';
import { type KeyPair, makeCertificate, type Subject } from './x509.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Certificates are valid from a little before they are made, for machines whose clocks are behind. */
const clockSkewMs = 5 * 60 * 1000;

const authorityDays = 3650;
const serverDays = 365;
export const administratorDays = 365;

export const authoritySubject: Subject = { commonName: 'fairlead-ca' };
export const serverSubject: Subject = { commonName: 'kube-apiserver' };
export const administratorSubject: Subject = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
};

export type ClientCertificateSpec = Subject & {
  readonly days: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** A new authority, or a new certificate for the key of one. */
export function makeAuthority(now: number, privateKey?: string): KeyPair {
  return makeCertificate({
    subject: authoritySubject,
    use: 'authority',
    ...lifetime(now, authorityDays),
    ...(privateKey === undefined ? {} : { privateKey }),
  });
}

/** A certificate with which a client is `commonName` in the groups `organizations`. */
export function issueClientCertificate(authority: KeyPair, spec: ClientCertificateSpec): KeyPair {
  const { commonName, organizations = [], days, now } = spec;
  return makeCertificate({
    subject: { commonName, organizations },
    use: 'client',
    ...lifetime(now, days),
    issuer: { subject: authoritySubject, privateKey: authority.privateKey },
  });
}

export function issueServerCertificate(
  authority: KeyPair,
  { names, now }: { readonly names: readonly string[]; readonly now: number },
): KeyPair {
  return makeCertificate({
    subject: serverSubject,
    use: 'server',
    names,
    ...lifetime(now, serverDays),
    issuer: { subject: authoritySubject, privateKey: authority.privateKey },
  });
}

/** What the agent of a node serves with. */
export function issueNodeServingCertificate(
  authority: KeyPair,
  {
    node,
    names,
    now,
  }: { readonly node: string; readonly names: readonly string[]; readonly now: number },
): KeyPair {
  return makeCertificate({
    subject: { commonName: nodeUser(node), organizations: [nodesGroup] },
    use: 'server',
    names,
    ...lifetime(now, serverDays),
    issuer: { subject: authoritySubject, privateKey: authority.privateKey },
  });
}

function lifetime(
  now: number,
  days: number,
): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - clockSkewMs), notAfter: new Date(now + days * dayMs) };
}
