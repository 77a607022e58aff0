// The certificates of one API server: made on the first start, read on later ones, renewed when it is time.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { formatAddress, parseAddress } from '../../ip/address.ts';
import {
  administratorDays,
  administratorSubject,
  authoritySubject,
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
  serverSubject,
} from './authority.ts';
import { PrivateFileError, readPrivateFile, writePrivateFile } from './private-file.ts';
import type { KeyPair, Subject } from './x509.ts';

export type Credentials = {
  readonly authority: KeyPair;
  readonly server: KeyPair;
  /** A client in the group system:masters. */
  readonly administrator: KeyPair;
};

export type CertificateOptions = {
  readonly directory: string;
  /** DNS names and IP addresses besides those that every server has. */
  readonly serverNames: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** The fraction of its validity after which a certificate is renewed. */
const renewalAge = 0.8;

const standardNames = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
];

export async function ensureCertificates(options: CertificateOptions): Promise<Credentials> {
  const { directory, now } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const names = [...new Set([...standardNames, ...options.serverNames].map(canonicalName))];
  const authority = await ensureAuthority(directory, now);
  const [server, administrator] = await Promise.all([
    ensureIssued(options, authority, {
      file: 'apiserver',
      subject: serverSubject,
      names,
      issue: () => issueServerCertificate(authority, { names, now }),
    }),
    ensureIssued(options, authority, {
      file: 'admin',
      subject: administratorSubject,
      names: [],
      issue: () =>
        issueClientCertificate(authority, {
          ...administratorSubject,
          days: administratorDays,
          now,
        }),
    }),
  ]);
  return { authority, server, administrator };
}

async function ensureAuthority(directory: string, now: number): Promise<KeyPair> {
  const { certificate, privateKey } = await readPair(directory, 'ca');
  if (certificate === undefined) {
    // A key alone is what a crash in the first start leaves: the same key gets its certificate now.
    if (privateKey !== undefined) parseKey(join(directory, 'ca.key'), privateKey);
    const made = makeAuthority(now, privateKey);
    await writePair(directory, 'ca', made);
    return made;
  }
  if (privateKey === undefined) {
    throw new PrivateFileError(
      `Cannot use "${join(directory, 'ca.crt')}": ca.key is missing beside it, restore it or remove ca.crt to begin with a new authority`,
    );
  }
  checkAuthority(directory, { certificate, privateKey }, now);
  return { certificate, privateKey };
}

function checkAuthority(directory: string, pair: KeyPair, now: number): void {
  const path = join(directory, 'ca.crt');
  const certificate = parseCertificate(path, pair.certificate);
  const key = parseKey(join(directory, 'ca.key'), pair.privateKey);
  const problem = authorityProblem(certificate, key, now);
  if (problem !== undefined) {
    throw new PrivateFileError(
      `Cannot use "${path}": ${problem}, restore it or remove ca.crt and ca.key to begin with a new authority`,
    );
  }
}

function authorityProblem(
  certificate: X509Certificate,
  key: KeyObject,
  now: number,
): string | undefined {
  if (!certificate.ca || certificate.subject !== subjectText(authoritySubject)) {
    return `its subject is "${certificate.subject}", an authority "${subjectText(authoritySubject)}" is needed`;
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return 'ca.key is not a P-256 key';
  if (!certificate.checkPrivateKey(key)) return 'ca.key does not belong to it';
  if (!certificate.verify(certificate.publicKey)) return 'its signature is wrong';
  if (now > Date.parse(certificate.validTo)) return `it expired on ${certificate.validTo}`;
  return undefined;
}

type Issued = {
  readonly file: string;
  readonly subject: Subject;
  readonly names: readonly string[];
  readonly issue: () => KeyPair;
};

async function ensureIssued(
  { directory, now }: CertificateOptions,
  authority: KeyPair,
  wanted: Issued,
): Promise<KeyPair> {
  const { certificate, privateKey } = await readPair(directory, wanted.file);
  if (certificate !== undefined && privateKey !== undefined) {
    const path = join(directory, wanted.file);
    const parsed = parseCertificate(`${path}.crt`, certificate);
    const key = parseKey(`${path}.key`, privateKey);
    if (isCurrent({ parsed, key, authority, wanted, now })) return { certificate, privateKey };
  }
  const made = wanted.issue();
  await writePair(directory, wanted.file, made);
  return made;
}

/** Whether a certificate can stay: from this authority, for this key and these names, and not too old. */
function isCurrent(found: {
  readonly parsed: X509Certificate;
  readonly key: KeyObject;
  readonly authority: KeyPair;
  readonly wanted: Issued;
  readonly now: number;
}): boolean {
  const { parsed, key, wanted, now } = found;
  const authority = new X509Certificate(found.authority.certificate);
  const begin = Date.parse(parsed.validFrom);
  const end = Date.parse(parsed.validTo);
  return (
    parsed.checkPrivateKey(key) &&
    parsed.checkIssued(authority) &&
    parsed.verify(authority.publicKey) &&
    parsed.subject === subjectText(wanted.subject) &&
    sameNames(namesOf(parsed), wanted.names) &&
    now < begin + renewalAge * (end - begin)
  );
}

/** How Node writes a subject: one attribute a line, in the order of the certificate. */
function subjectText({ commonName, organizations = [] }: Subject): string {
  return [...organizations.map((name) => `O=${name}`), `CN=${commonName}`].join('\n');
}

function namesOf(certificate: X509Certificate): readonly string[] {
  const text = certificate.subjectAltName ?? '';
  return text === ''
    ? []
    : text.split(', ').map((name) => canonicalName(name.replace(/^(DNS|IP Address):/, '')));
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  const wanted = new Set(b);
  return a.length === wanted.size && a.every((name) => wanted.has(name));
}

/** One spelling for each name, so that names can be compared; refuses what a certificate cannot carry. */
function canonicalName(name: string): string {
  const address = parseAddress(name);
  if (address !== undefined) return formatAddress(address);
  if (
    !/^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i.test(name)
  ) {
    throw new Error(`Cannot certify "${name}": neither an IP address nor a DNS name`);
  }
  return name.toLowerCase();
}

async function readPair(directory: string, file: string): Promise<Partial<KeyPair>> {
  const [certificate, privateKey] = await Promise.all([
    readPrivateFile(join(directory, `${file}.crt`)),
    readPrivateFile(join(directory, `${file}.key`)),
  ]);
  return {
    ...(certificate === undefined ? {} : { certificate }),
    ...(privateKey === undefined ? {} : { privateKey }),
  };
}

/** The key first: a key without a certificate can be completed, the reverse cannot. */
async function writePair(directory: string, file: string, pair: KeyPair): Promise<void> {
  await writePrivateFile(join(directory, `${file}.key`), pair.privateKey);
  await writePrivateFile(join(directory, `${file}.crt`), pair.certificate);
}

function parseCertificate(path: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw damaged(path, 'certificate', error);
  }
}

function parseKey(path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw damaged(path, 'private key', error);
  }
}

function damaged(path: string, what: string, cause: unknown): Error {
  return new PrivateFileError(
    `Cannot read "${path}": the file is damaged, a ${what} in PEM form is needed; restore it, or remove it with its pair to have new ones made`,
    { cause },
  );
}
