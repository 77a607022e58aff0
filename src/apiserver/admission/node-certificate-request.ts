// A node may request certificates for itself only.
import { parseRequestField } from '../../kinds/certificate-signing-request/parse-request.ts';
import {
  type CertificateSigningRequest,
  nodeClientSigner,
  nodeServingSigner,
} from '../../kinds/certificate-signing-request/types.ts';
import { nodeUser } from '../access/known-users.ts';
import type { AdmissionRequest } from './admission.ts';

export function certificateRequestProblem(
  { operation, after }: AdmissionRequest,
  node: string,
): string | undefined {
  if (operation !== 'create') return undefined;
  const { spec } = after as CertificateSigningRequest;
  if (spec.signerName !== nodeClientSigner && spec.signerName !== nodeServingSigner) {
    return undefined;
  }
  const csr = parseRequestField(spec.request ?? '');
  if (csr === undefined) return 'unable to parse csr: it is not a certificate request';
  return csr.commonName === nodeUser(node)
    ? undefined
    : `can only create a node CSR with CN=${nodeUser(node)}`;
}
