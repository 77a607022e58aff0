// What the service controller asks of the API server, whatever its provider.

import { nodeDefinition } from '../kinds/node/definition.ts';
import { may, mayLead, mayRecordEvents, mayWatch, type Right } from '../kinds/rbac/rights.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';

/** Of several copies the one that holds it works. */
export const cloudLease = { namespace: 'kube-system', name: 'fairlead-cloud' } as const;

export const cloudRights: readonly Right[] = [
  ...mayWatch(serviceDefinition, nodeDefinition),
  may('patch', serviceDefinition, { subresource: 'status' }),
  mayRecordEvents,
  ...mayLead(cloudLease),
];
