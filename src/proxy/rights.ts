// What the node proxy asks of the API server.

import { endpointSliceDefinition } from '../kinds/endpoint-slice/definition.ts';
import { nodeDefinition } from '../kinds/node/definition.ts';
import { mayAnswerQuestions, mayRecordEvents, mayWatch, type Right } from '../kinds/rbac/rights.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import { serviceCidrDefinition } from '../kinds/service-cidr/definition.ts';

export const proxyRights: readonly Right[] = [
  ...mayWatch(serviceDefinition, nodeDefinition, endpointSliceDefinition, serviceCidrDefinition),
  mayRecordEvents,
  ...mayAnswerQuestions,
];
