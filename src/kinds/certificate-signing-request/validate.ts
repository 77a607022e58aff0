// Upstream: pkg/apis/certificates/validation.

import { repeatedIndexes } from '../../meta/contains.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { parseRequestField } from './parse-request.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition as Condition,
} from './types.ts';

const minSeconds = 600;
const legacySigner = 'kubernetes.io/legacy-unknown';
const maxPathLength = 253 + 1 + 63;

const keyUsages: readonly string[] = [
  'signing',
  'digital signature',
  'content commitment',
  'key encipherment',
  'key agreement',
  'data encipherment',
  'cert sign',
  'crl sign',
  'encipher only',
  'decipher only',
  'any',
  'server auth',
  'client auth',
  'code signing',
  'email protection',
  's/mime',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'timestamping',
  'ocsp signing',
  'microsoft sgc',
  'netscape sgc',
];

const sortedUsages = [...keyUsages].sort();

export function validateRequest(object: CertificateSigningRequest): readonly FieldError[] {
  const { request = '', signerName, usages = [], expirationSeconds } = object.spec;
  const errors: FieldError[] = [];
  if (parseRequestField(request) === undefined) {
    const detail = 'PEM block type must be CERTIFICATE REQUEST';
    errors.push(invalid('spec.request', request, detail));
  }
  errors.push(...validateUsages(usages), ...validateSignerName(signerName));
  if (expirationSeconds !== undefined && expirationSeconds < minSeconds) {
    const detail = `may not specify a duration less than ${minSeconds} seconds (10 minutes)`;
    errors.push(invalid('spec.expirationSeconds', expirationSeconds, detail));
  }
  return errors;
}

function validateUsages(usages: readonly string[]): readonly FieldError[] {
  if (usages.length === 0) return [required('spec.usages')];
  return [
    ...usages.flatMap((usage, index) =>
      keyUsages.includes(usage) ? [] : [notSupported(`spec.usages[${index}]`, usage, sortedUsages)],
    ),
    ...[...repeatedIndexes(usages)].map((index) =>
      duplicate(`spec.usages[${index}]`, usages[index]),
    ),
  ];
}

function validateSignerName(name: string): readonly FieldError[] {
  const field = 'spec.signerName';
  if (name === '') return [required(field)];
  if (name === legacySigner) {
    return [invalid(field, name, 'the legacy signerName is not allowed via this API version')];
  }
  const [domain = '', path, ...rest] = name.split('/');
  if (path === undefined || rest.length > 0) {
    return [
      invalid(
        field,
        name,
        'must be a fully qualified domain and path of the form "example.com/signer-name"',
      ),
    ];
  }
  const errors = dns1123Subdomain(domain).map((detail) => invalid(field, domain, detail));
  if (domain.split('.').length < 2) {
    errors.push(
      invalid(field, domain, 'should be a domain with at least two segments separated by dots'),
    );
  }
  if (path === '') errors.push(invalid(field, '', 'validation.pathSegment must not be empty'));
  else errors.push(...dns1123Subdomain(path).map((detail) => invalid(field, path, detail)));
  if (name.length > maxPathLength) errors.push(invalid(field, name, 'is too long'));
  return errors;
}

/** Only the subresource `approval` may add Approved and Denied. */
export function validateUpdate(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
): readonly FieldError[] {
  return [
    ...validateApproval(before, after),
    ...['Approved', 'Denied']
      .filter((type) => count(after, type) > count(before, type))
      .map((type) =>
        forbidden(conditionsField, `updates may not add a condition of type "${type}"`),
      ),
  ];
}

const conditionsField = 'status.conditions';

/** Approved, Denied and Failed cannot be removed. */
export function validateApproval(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
): readonly FieldError[] {
  const field = conditionsField;
  const conditions = after.status.conditions ?? [];
  const types = conditions.map(({ type }) => type);
  const repeated = repeatedIndexes(types);
  const first = { Approved: types.indexOf('Approved'), Denied: types.indexOf('Denied') };
  // An approval after a denial, or the other way round.
  const isRival = (type: string, index: number): boolean => {
    const other = type === 'Approved' ? first.Denied : type === 'Denied' ? first.Approved : -1;
    return other >= 0 && other < index;
  };
  return [
    ...conditions.flatMap((one, index) => [
      ...validateCondition(one, `${field}[${index}]`),
      ...(isRival(one.type, index) ? [invalid(field, one.type, rivalry)] : []),
      ...(repeated.has(index) ? [duplicate(`${field}[${index}].type`, one.type)] : []),
    ]),
    ...['Approved', 'Denied', 'Failed']
      .filter((type) => count(after, type) < count(before, type))
      .map((type) => forbidden(field, `updates may not remove a condition of type "${type}"`)),
  ];
}

function count({ status }: CertificateSigningRequest, type: string): number {
  return (status.conditions ?? []).filter((one) => one.type === type).length;
}

const rivalry = 'Approved and Denied conditions are mutually exclusive';

function validateCondition(one: Condition, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (one.type === '') errors.push(required(`${field}.type`));
  const isFinal = ['Approved', 'Denied', 'Failed'].includes(one.type);
  const allowed = isFinal ? ['True'] : ['False', 'True', 'Unknown'];
  if (one.status === '') errors.push(required(`${field}.status`));
  else if (!allowed.includes(one.status)) {
    errors.push(notSupported(`${field}.status`, one.status, allowed));
  }
  return errors;
}

/** An issued certificate is immutable. */
export function validateStatusChange(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
): readonly FieldError[] {
  const { certificate: issued = '' } = before.status;
  const { certificate = '' } = after.status;
  const field = 'status.certificate';
  const errors = [...validateUpdate(before, after)];
  if (certificate === issued) return errors;
  const wrong = certificate === '' ? undefined : wrongCertificate(certificate);
  if (wrong !== undefined) errors.push(invalid(field, '<certificate data>', wrong));
  if (issued !== '') {
    errors.push(forbidden(field, 'updates may not modify existing certificate content'));
  }
  return errors;
}

function wrongCertificate(base64: string): string | undefined {
  const blocks = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, hasHeaders } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found "${type}"`;
    if (hasHeaders) return 'no PEM block headers are permitted';
  }
  return undefined;
}

type PemBlock = { readonly type: string; hasHeaders: boolean };

const begin = '-----BEGIN ';
const dashes = '-----';

/** Text between PEM blocks is ignored, as in Go. */
function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: PemBlock | undefined;
  for (const line of text.split('\n').map((one) => one.trimEnd())) {
    if (line.startsWith(begin) && line.endsWith(dashes)) {
      open = { type: line.slice(begin.length, -dashes.length), hasHeaders: false };
    } else if (open !== undefined && line === `-----END ${open.type}-----`) {
      blocks.push(open);
      open = undefined;
    } else if (open !== undefined && line.includes(':')) open.hasHeaders = true;
  }
  return blocks;
}
