// The RBAC permissions of cluster DNS.

import { endpointSliceDefinition } from '../kinds/endpoint-slice/definition.ts';
import { namespaceDefinition } from '../kinds/namespace/definition.ts';
import { podDefinition } from '../kinds/pod/definition.ts';
import { may, mayAnswerQuestions, mayWatch, type Right } from '../kinds/rbac/rights.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';

export const dnsRights: readonly Right[] = [
  ...mayWatch(serviceDefinition, namespaceDefinition, endpointSliceDefinition),
  may('list watch', podDefinition, { onlyWith: '--pods verified' }),
  ...mayAnswerQuestions,
];
