// The RBAC permissions of an announcer.

import { endpointSliceDefinition } from '../../kinds/endpoint-slice/definition.ts';
import { leaseDefinition } from '../../kinds/lease/definition.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { may, mayRecordEvents, mayWatch, type Right } from '../../kinds/rbac/rights.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { leaseNamespace } from './lease-observer.ts';

export const announcerRights: readonly Right[] = [
  ...mayWatch(serviceDefinition, nodeDefinition, endpointSliceDefinition),
  may('create delete list patch watch', leaseDefinition, { namespace: leaseNamespace }),
  mayRecordEvents,
];
