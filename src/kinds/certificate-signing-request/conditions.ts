import type { CertificateSigningRequest } from './types.ts';

const isTrueOf =
  (type: string) =>
  (request: CertificateSigningRequest): boolean =>
    (request.status.conditions ?? []).some((one) => one.type === type);

export const isApproved = isTrueOf('Approved');
export const isDenied = isTrueOf('Denied');
export const hasFailed = isTrueOf('Failed');

/** As `kubectl get csr` prints it. */
export function conditionText(request: CertificateSigningRequest): string {
  const words = [
    isDenied(request) ? 'Denied' : isApproved(request) ? 'Approved' : 'Pending',
    ...(hasFailed(request) ? ['Failed'] : []),
    ...(request.status.certificate ? ['Issued'] : []),
  ];
  return words.join(',');
}
