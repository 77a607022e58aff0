// The rights that `fairlead controllers` needs beyond those of its controllers.
import { may, mayLead, type Right } from '../kinds/rbac/rights.ts';
import { serviceAccountDefinition } from '../kinds/service-account/definition.ts';
import { allControllers } from './all.ts';

/** The lease for leader election: only its holder runs controllers. */
export const controllersLease = { namespace: 'kube-system', name: 'fairlead-controllers' } as const;

export const leadingRights: readonly Right[] = mayLead(controllersLease);

/** The namespace of the controllers' service accounts. */
export const accountNamespace = 'kube-system';

/** To create each controller's service account and request tokens for it, and for no other account. */
export const actingRights: readonly Right[] = [
  may('create', serviceAccountDefinition, { namespace: accountNamespace }),
  may('create', serviceAccountDefinition, {
    namespace: accountNamespace,
    subresource: 'token',
    names: [...new Set(allControllers.map(({ account }) => account))],
  }),
];
