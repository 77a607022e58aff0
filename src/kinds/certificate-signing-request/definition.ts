import { nameIsPathSegment } from '../../meta/names.ts';
import { humanDuration } from '../../schema/time.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { conditionText } from './conditions.ts';
import { prepareApproval, prepareCreate, prepareStatus, prepareUpdate } from './prepare.ts';
import { type CertificateSigningRequest, certificateSigningRequestSchema } from './types.ts';
import {
  validateApproval,
  validateRequest,
  validateStatusChange,
  validateUpdate,
} from './validate.ts';

// Clients see the descriptions of columns, so they are Kubernetes' own.
const signerDescription = `Requested signer for the request. It is a qualified name in the form: \`scope-hostname.io/name\`. If empty, it will be defaulted:
 1. If it's a kubelet client certificate, it is assigned
    "kubernetes.io/kube-apiserver-client-kubelet".
 2. If it's a kubelet serving certificate, it is assigned
    "kubernetes.io/kubelet-serving".
 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".
Distribution of trust for signers happens out of band. You can select on this field using \`spec.signerName\`.`;
const durationDescription = `expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.

The v1.22+ in-tree implementations of the well-known Kubernetes signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Kubernetes controller manager.

Certificate signers may not honor this field for various reasons:

  1. Old signer that is unaware of the field (such as the in-tree
     implementations prior to v1.22)
  2. Signer whose configured maximum is shorter than the requested duration
  3. Signer whose configured minimum is longer than the requested duration

The minimum valid value for expirationSeconds is 600, i.e. 10 minutes.`;

export const certificateSigningRequestDefinition: KindDefinition<CertificateSigningRequest> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  namespaced: false,
  schema: certificateSigningRequestSchema,
  nameRule: nameIsPathSegment,
  create: { prepareCreate, validateCreate: validateRequest },
  update: {
    prepareUpdate,
    validateUpdate,
    resetFields: [['spec'], ['status']],
  },
  subresources: [
    {
      name: 'approval',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: prepareApproval,
        validateUpdate: validateApproval,
        resetFields: [['spec'], ['status', 'certificate']],
      },
    },
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: prepareStatus,
        validateUpdate: validateStatusChange,
        resetFields: [['spec'], ['status', 'conditions']],
      },
    },
  ],
  columns: [
    nameColumn,
    ageColumn,
    {
      name: 'SignerName',
      type: 'string',
      description: signerDescription,
      cell: ({ spec }) => spec.signerName,
    },
    {
      name: 'Requestor',
      type: 'string',
      // Upstream's message describes the request here, not the requester.
      description: 'Base64-encoded PKCS#10 CSR data',
      cell: ({ spec }) => spec.username ?? '',
    },
    {
      name: 'RequestedDuration',
      type: 'string',
      description: durationDescription,
      cell: ({ spec }) =>
        spec.expirationSeconds === undefined
          ? '<none>'
          : humanDuration(spec.expirationSeconds * 1000),
    },
    {
      name: 'Condition',
      type: 'string',
      description: 'Conditions applied to the request, such as approval or denial.',
      cell: conditionText,
    },
  ],
  fieldSelectors: { 'spec.signerName': ({ spec }) => spec.signerName },
  fieldSelectorError: 'label',
};
