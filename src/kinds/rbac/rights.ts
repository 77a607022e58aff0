// What a part asks of the API server, as data beside its code. The roles in docs/deploy/kubernetes/rbac are made of it, and a test holds
// it against the audit log of a server: nothing is refused, and nothing is granted that nobody uses.

/** A definition of a kind is one. */
type Resource = { readonly group: string; readonly plural: string };

export type Right = {
  readonly verbs: readonly string[];
  /** `*`: all groups. */
  readonly group: string;
  /** With their subresources: `pods/status`. `*`: all. */
  readonly resources: readonly string[];
  /** Only there; absent: in all namespaces. */
  readonly namespace?: string;
  /** Only objects of these names. */
  readonly names?: readonly string[];
  /** With which flag it is needed; absent: always. */
  readonly onlyWith?: string;
  /** Why Fairlead's own server never asks for it. */
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

/** What informers of these resources ask: servers that cannot stream a list are asked for the list first. */
export function mayWatch(...types: readonly Resource[]): readonly Right[] {
  return types.map((type) => may('list watch', type));
}

/** Everything there is, also kinds that nobody knows yet. */
export const everything = { group: '*', plural: '*' } as const;

export const mayRecordEvents: Right = may('create patch', { group: '', plural: 'events' });

/** Owner references that block the deletion of the owner need this where OwnerReferencesPermissionEnforcement is on. */
export function mayOwn(type: Resource): Right {
  return may('update', type, {
    subresource: 'finalizers',
    onlyElsewhere: 'asked for by the admission plugin OwnerReferencesPermissionEnforcement',
  });
}

/** To be the one of several copies that works. Names cannot be checked before there is an object. */
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
