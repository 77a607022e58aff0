// Upstream: pkg/apis/certificates/validation.
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

const leastSeconds = 600;
const longestPath = 253 + 1 + 63;

export const keyUsages: readonly string[] = [
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

export function validateRequest(object: CertificateSigningRequest): readonly FieldError[] {
  const { request = '', signerName, usages = [], expirationSeconds } = object.spec;
  const errors: FieldError[] = [];
  if (parseRequestField(request) === undefined) {
    const detail = 'PEM block type must be CERTIFICATE REQUEST';
    errors.push(invalid('spec.request', request, detail));
  }
  errors.push(...validateUsages(usages), ...validateSignerName(signerName));
  if (expirationSeconds !== undefined && expirationSeconds < leastSeconds) {
    const detail = `may not specify a duration less than ${leastSeconds} seconds (10 minutes)`;
    errors.push(invalid('spec.expirationSeconds', expirationSeconds, detail));
  }
  return errors;
}

function validateUsages(usages: readonly string[]): readonly FieldError[] {
  if (usages.length === 0) return [required('spec.usages')];
  return usages.flatMap((usage, index) => {
    const field = `spec.usages[${index}]`;
    if (usages.indexOf(usage) !== index) return [duplicate(field, usage)];
    return keyUsages.includes(usage) ? [] : [notSupported(field, usage, [...keyUsages].sort())];
  });
}

function validateSignerName(name: string): readonly FieldError[] {
  const field = 'spec.signerName';
  if (name === '') return [required(field)];
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
  if (name.length > longestPath) errors.push(invalid(field, name, 'is too long'));
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
  const errors = conditions.flatMap((one, index) => validateCondition(one, index, types));
  if (types.includes('Approved') && types.includes('Denied')) {
    errors.push(invalid(field, 'Denied', 'Approved and Denied conditions are mutually exclusive'));
  }
  const lost = ['Approved', 'Denied', 'Failed'].find(
    (type) => old.some((one) => one.type === type) && !types.includes(type),
  );
  if (lost !== undefined) {
    errors.push(forbidden(field, `updates may not remove a condition of type "${lost}"`));
  }
  return errors;
}

function validateCondition(one: Condition, index: number, types: readonly string[]): FieldError[] {
  const field = `status.conditions[${index}]`;
  const errors: FieldError[] = [];
  if (one.type === '') errors.push(required(`${field}.type`));
  if (types.indexOf(one.type) !== index) errors.push(duplicate(`${field}.type`, one.type));
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
  const errors = [...validateConditionChange(before, after)];
  if (issued !== '' && certificate !== issued) {
    errors.push(
      forbidden(
        'status.certificate',
        'updates may not set certificate content; an issued certificate cannot change',
      ),
    );
  } else if (certificate !== issued && !isPem(certificate)) {
    errors.push(
      invalid(
        'status.certificate',
        '<certificate data>',
        'must contain one or more PEM blocks of type CERTIFICATE',
      ),
    );
  }
  return errors;
}

function isPem(base64: string): boolean {
  const text = Buffer.from(base64, 'base64').toString('latin1');
  return /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(text);
}
