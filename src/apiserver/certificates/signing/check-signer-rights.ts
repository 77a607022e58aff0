// Approving and signing take more than writing the object: the right to do so for that signer. Kubernetes: the admission plugins
// CertificateApproval, CertificateSigning and CertificateSubjectRestriction.
import { parseRequestField } from '../../../kinds/certificate-signing-request/parse-request.ts';
import {
  type CertificateSigningRequest,
  clientSigner,
} from '../../../kinds/certificate-signing-request/types.ts';
import { deepEqual } from '../../../schema/equality.ts';
import type { Authorizer } from '../../access/authorize.ts';
import { mastersGroup } from '../../access/known-users.ts';
import { isResource, refused, type WriteAdmission } from '../../admission/admission.ts';

const group = 'certificates.k8s.io';

/** Throws 403; other kinds pass. */
export function checkSignerRights(request: WriteAdmission, authorizer: Authorizer): void {
  if (!isResource(request, group, 'certificatesigningrequests')) return;
  const after = request.after as CertificateSigningRequest;
  const before = request.before as CertificateSigningRequest | undefined;
  if (request.operation === 'create') {
    refuseMasters(request, after);
    return;
  }
  const signer = before?.spec.signerName ?? after.spec.signerName;
  if (request.subresource === 'approval') needRight(request, authorizer, 'approve', signer);
  const isSigning =
    request.subresource === 'status' &&
    !deepEqual(before?.status.certificate, after.status.certificate);
  if (isSigning) needRight(request, authorizer, 'sign', signer);
}

function refuseMasters(request: WriteAdmission, { spec }: CertificateSigningRequest): void {
  if (spec.signerName !== clientSigner) return;
  const { organizations = [] } = parseRequestField(spec.request ?? '') ?? {};
  if (!organizations.includes(mastersGroup)) return;
  throw refused(request, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`);
}

/** The signer by its name, or all of its domain. */
function needRight(
  request: WriteAdmission,
  { authorize }: Authorizer,
  verb: 'approve' | 'sign',
  signer: string,
): void {
  const [domain = ''] = signer.split('/');
  const isAllowed = [signer, `${domain}/*`].some(
    (name) =>
      authorize(request.user, {
        ...{ kind: 'resource', verb, group, version: '*', resource: 'signers' },
        ...{ subresource: '', namespace: '', name },
      }).allowed,
  );
  if (isAllowed) return;
  throw refused(request, `user not permitted to ${verb} requests with signerName "${signer}"`);
}
