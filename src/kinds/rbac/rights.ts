// The API requests of a part, as data beside its code. docs/deploy/kubernetes/rbac is generated from it, and a test
// compares it with the audit log of a server: nothing is forbidden, and no granted right is unused.

import { partResource } from '../part/names.ts';

/** Any kind's definition fits. */
type Resource = { readonly group: string; readonly plural: string };

export type Right = {
  readonly verbs: readonly string[];
  /** `*`: all groups. */
  readonly group: string;
  /** With their subresources: `pods/status`. `*`: all. */
  readonly resources: readonly string[];
  /** One namespace; absent: all. */
  readonly namespace?: string;
  /** Resource names. */
  readonly names?: readonly string[];
  /** The flag that needs this right; absent: always needed. */
  readonly onlyWith?: string;
  /** Why Fairlead's own server never gets this request. */
  readonly onlyElsewhere?: string;
};

export type RightOptions = Pick<Right, 'namespace' | 'names' | 'onlyWith' | 'onlyElsewhere'> & {
  readonly subresource?: string;
};

/** Space-separated verbs on one resource. */
export function may(
  verbs: string,
  { group, plural }: Resource,
  { subresource, ...where }: RightOptions = {},
): Right {
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  return { verbs: verbs.split(' '), group, resources: [resource], ...where };
}

/** Requests of informers: servers without streaming lists are listed first. */
export function mayWatch(...types: readonly Resource[]): readonly Right[] {
  return types.map((type) => may('list watch', type));
}

/** Every resource, also of kinds that are unknown yet. */
export const everything = { group: '*', plural: '*' } as const;

export const mayRecordEvents: Right = may('create patch', { group: '', plural: 'events' });

/** Questions of the API server to a part, and its answers. */
export const mayAnswerQuestions: readonly Right[] = [
  may('get', partResource, { subresource: 'questions' }),
  may('create', partResource, { subresource: 'answers' }),
];

/** For owner references with blockOwnerDeletion, where OwnerReferencesPermissionEnforcement is enabled. */
export function mayOwn(type: Resource): Right {
  return may('update', type, {
    subresource: 'finalizers',
    onlyElsewhere: 'asked for by the admission plugin OwnerReferencesPermissionEnforcement',
  });
}

/** For leader election. Creation cannot be limited by name. */
export function mayLead({
  namespace,
  name,
}: {
  namespace: string;
  name: string;
}): readonly Right[] {
  const leases = { group: 'coordination.k8s.io', plural: 'leases' };
  return [
    may('create', leases, { namespace }),
    may('get update', leases, { namespace, names: [name] }),
  ];
}
