// Upstream: pkg/apis/certificates/validation.

import { repeatedPlaces } from '../../meta/contains.ts';
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
    ...[...repeatedPlaces(usages)].map((index) =>
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

/** Approved, Denied and Failed are said once and for good. */
export function validateConditionChange(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
): readonly FieldError[] {
  const field = 'status.conditions';
  const old = before.status.conditions ?? [];
  const conditions = after.status.conditions ?? [];
  const types = conditions.map(({ type }) => type);
  const repeated = repeatedPlaces(types);
  const first = { Approved: types.indexOf('Approved'), Denied: types.indexOf('Denied') };
  // Where an approval follows a denial, or the other way round.
  const isRival = (type: string, index: number): boolean => {
    const other = type === 'Approved' ? first.Denied : type === 'Denied' ? first.Approved : -1;
    return other >= 0 && other < index;
  };
  const count = (list: readonly Condition[], type: string): number =>
    list.filter((one) => one.type === type).length;
  return [
    ...conditions.flatMap((one, index) => [
      ...validateCondition(one, `${field}[${index}]`),
      ...(isRival(one.type, index) ? [invalid(`${field}[${index}].type`, one.type, rivalry)] : []),
      ...(repeated.has(index) ? [duplicate(`${field}[${index}].type`, one.type)] : []),
    ]),
    ...['Approved', 'Denied', 'Failed']
      .filter((type) => count(conditions, type) < count(old, type))
      .map((type) => forbidden(field, `updates may not remove a condition of type "${type}"`)),
  ];
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

/** A certificate that was issued stays what it is. */
export function validateStatusChange(
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
): readonly FieldError[] {
  const { certificate: issued = '' } = before.status;
  const { certificate = '' } = after.status;
  const field = 'status.certificate';
  const errors = [...validateConditionChange(before, after)];
  if (certificate === issued) return errors;
  if (certificate !== '' && !isPem(certificate)) {
    const detail = 'must contain at least one CERTIFICATE PEM block';
    errors.push(invalid(field, '<certificate data>', detail));
  }
  if (issued !== '') {
    errors.push(forbidden(field, 'updates may not modify existing certificate content'));
  }
  return errors;
}

function isPem(base64: string): boolean {
  const text = Buffer.from(base64, 'base64').toString('latin1');
  const begin = text.indexOf('-----BEGIN CERTIFICATE-----');
  const end = text.lastIndexOf('-----END CERTIFICATE-----');
  return begin >= 0 && end > begin + '-----BEGIN CERTIFICATE-----'.length;
}
