import { nameIsPathSegment } from '../../meta/names.ts';
import { humanDuration } from '../../schema/time.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { conditionText } from './conditions.ts';
import { prepareApproval, prepareCreate, prepareStatus, prepareUpdate } from './prepare.ts';
import { type CertificateSigningRequest, certificateSigningRequestSchema } from './types.ts';
import { validateConditionChange, validateRequest, validateStatusChange } from './validate.ts';

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
  update: { prepareUpdate, validateUpdate: validateConditionChange },
  subresources: [
    {
      name: 'approval',
      verbs: ['get', 'patch', 'update'],
      rules: { prepareUpdate: prepareApproval, validateUpdate: validateConditionChange },
    },
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: { prepareUpdate: prepareStatus, validateUpdate: validateStatusChange },
    },
  ],
  columns: [
    nameColumn,
    ageColumn,
    {
      name: 'SignerName',
      type: 'string',
      description: 'signerName indicates the requested signer, and is a qualified name.',
      cell: ({ spec }) => spec.signerName,
    },
    {
      name: 'Requestor',
      type: 'string',
      description: 'Who asked, as the server knows it.',
      cell: ({ spec }) => spec.username ?? '',
    },
    {
      name: 'RequestedDuration',
      type: 'string',
      description: 'How long the certificate is wanted for.',
      cell: ({ spec }) =>
        spec.expirationSeconds === undefined
          ? '<none>'
          : humanDuration(spec.expirationSeconds * 1000),
    },
    {
      name: 'Condition',
      type: 'string',
      description: 'What was decided, and whether there is a certificate.',
      cell: conditionText,
    },
  ],
  fieldSelectors: { 'spec.signerName': ({ spec }) => spec.signerName },
  fieldSelectorError: 'label',
};
