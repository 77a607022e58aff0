import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { timeOrNull } from '../pod/references.ts';

const csrCondition = s.struct(
  'CertificateSigningRequestCondition',
  {
    type: s.required(s.always(s.string('Approved, Denied or Failed; others may have their own.'))),
    status: s.required(s.always(s.string('True for Approved, Denied and Failed.'))),
    reason: s.string('Why, in one word.'),
    message: s.string('Why, for people.'),
    lastUpdateTime: timeOrNull('When the condition was last written.'),
    lastTransitionTime: timeOrNull('When its status last changed.'),
  },
  { numbers: [1, 6, 2, 3, 4, 5] },
);
export type CertificateSigningRequestCondition = s.Static<typeof csrCondition>;

const csrSpec = s.struct(
  'CertificateSigningRequestSpec',
  {
    request: s.required(s.bytes('A PKCS#10 request in PEM form.')),
    signerName: s.required(s.always(s.string('Who is to sign: a domain, a slash and a path.'))),
    expirationSeconds: s.pointer(
      s.int32('How long the certificate is wanted for, at least 600; the signer may give less.'),
    ),
    usages: s.list(s.string(), 'What the key is to be used for.', { listType: 'atomic' }),
    username: s.string('User name of the requester; set by the server.'),
    uid: s.string('UID of the requester; set by the server.'),
    groups: s.list(s.string(), 'Groups of the requester; set by the server.', {
      listType: 'atomic',
    }),
    extra: s.map(s.list(s.string()), 'Further attributes of the requester; set by the server.'),
  },
  { numbers: [1, 7, 8, 5, 2, 3, 4, 6] },
);
export type CertificateSigningRequestSpec = s.Static<typeof csrSpec>;

const csrStatus = s.struct(
  'CertificateSigningRequestStatus',
  {
    conditions: s.list(csrCondition, 'What was decided.', { listType: 'map', keys: ['type'] }),
    certificate: s.bytes('The certificate in PEM form, once it is signed.'),
  },
  { numbers: [1, 2] },
);

export const certificateSigningRequestSchema = s.struct(
  'CertificateSigningRequest',
  {
    ...objectFields,
    spec: s.required(s.described(csrSpec, 'The request.')),
    status: s.described(csrStatus, 'What became of it.'),
  },
  {
    description:
      'Requests a certificate from a signer; after its approval the signer issues the certificate in the status.',
    numbers: [0, 0, 1, 2, 3],
  },
);
export type CertificateSigningRequest = KubeObject &
  s.Static<typeof certificateSigningRequestSchema>;

/** The signers that the API server implements. */
export const clientSigner = 'kubernetes.io/kube-apiserver-client';
export const nodeClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
export const nodeServingSigner = 'kubernetes.io/kubelet-serving';
