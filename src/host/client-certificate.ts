// Whom a client certificate names and when it holds: read once per certificate, compared with the clock on every request.
// The API server and the agents of nodes share it, so that both take the same certificates for the same users.
import type { X509Certificate } from 'node:crypto';

export type ClientCertificate = {
  /** The user. */
  readonly commonName: string;
  /** His groups. */
  readonly organizations: readonly string[];
  /** SHA-256 of the certificate, in hexadecimal digits. */
  readonly fingerprint: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};

/** `none`: it names nobody. `several`: it has more than one common name, and nobody can say which one is meant. */
export type ReadCertificate = ClientCertificate | 'none' | 'several';

/** Says nothing of who signed it: the caller must have verified that on the same connection. */
export function readClientCertificate(certificate: X509Certificate): ReadCertificate {
  const { CN = '', O = [] } = subjectOf(certificate);
  if (typeof CN !== 'string') return 'several';
  if (CN === '') return 'none';
  return {
    commonName: CN,
    organizations: [O].flat(),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
  };
}

type SubjectNames = { readonly CN?: string | string[]; readonly O?: string | string[] };

/** An attribute that occurs more than once is a list. A certificate without a subject has none. */
const subjectOf = (certificate: X509Certificate): SubjectNames =>
  (certificate.toLegacyObject().subject as SubjectNames | undefined) ?? {};

/**
 * A connection outlives the certificate that opened it, and a resumed TLS session is not verified again. Both bounds
 * belong to the time in which it holds (RFC 5280, 4.1.2.5). A time that could not be read is never within.
 */
export function holdsAt(
  { notBeforeMs, notAfterMs }: Pick<ClientCertificate, 'notBeforeMs' | 'notAfterMs'>,
  nowMs: number,
): boolean {
  // The bounds are whole seconds: the last one counts to its end.
  return nowMs >= notBeforeMs && nowMs < notAfterMs + 1000;
}
