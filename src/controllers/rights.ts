// What `fairlead controllers` asks of the API server beside what its controllers do.
import { may, mayLead, type Right } from '../kinds/rbac/rights.ts';
import { serviceAccountDefinition } from '../kinds/service-account/definition.ts';
import { allControllers } from './all.ts';

/** Of several copies the one that holds it works. */
export const controllersLease = { namespace: 'kube-system', name: 'fairlead-controllers' } as const;

export const leadingRights: readonly Right[] = mayLead(controllersLease);

/** Where the service accounts of controllers are. */
export const accountNamespace = 'kube-system';

/** To act as each controller's own account: the account has to be there, and gives a token. Those of others do not. */
export const actingRights: readonly Right[] = [
  may('create', serviceAccountDefinition, { namespace: accountNamespace }),
  may('create', serviceAccountDefinition, {
    namespace: accountNamespace,
    subresource: 'token',
    names: [...new Set(allControllers.map(({ account }) => account))],
  }),
];
