// Types that Role, ClusterRole and their bindings share.
import * as s from '../../schema/node.ts';

export const rbacGroup = 'rbac.authorization.k8s.io';

const atomic = { listType: 'atomic' } as const;

const policyRule = s.struct(
  'PolicyRule',
  {
    verbs: s.required(s.always(s.list(s.string(), 'What may be done; * is everything.', atomic))),
    apiGroups: s.list(s.string(), 'Groups of the resources; "" is the core group.', atomic),
    resources: s.list(s.string(), 'Resources, or resource/subresource; * is all.', atomic),
    resourceNames: s.list(s.string(), 'Only objects of these names; empty is all.', atomic),
    nonResourceURLs: s.list(s.string(), 'Paths outside the resources; a last * is open.', atomic),
  },
  { numbers: [1, 2, 3, 4, 5] },
);
export type PolicyRule = s.Static<typeof policyRule>;

export const policyRules = s.always(s.list(policyRule, 'What the role allows.', atomic));

const subject = s.struct(
  'Subject',
  {
    kind: s.required(s.always(s.string('User, Group or ServiceAccount.'))),
    apiGroup: s.string('Group of the subject; "" for service accounts.'),
    name: s.required(s.always(s.string('Name of the subject.'))),
    namespace: s.string('Namespace of a service account.'),
  },
  { mapType: 'atomic', numbers: [1, 2, 3, 4] },
);
export type Subject = s.Static<typeof subject>;

const roleRef = s.struct(
  'RoleRef',
  {
    apiGroup: s.required(s.always(s.string('Group of the role.'))),
    kind: s.required(s.always(s.string('Role or ClusterRole.'))),
    name: s.required(s.always(s.string('Name of the role.'))),
  },
  { mapType: 'atomic', numbers: [1, 2, 3] },
);
export type RoleRef = s.Static<typeof roleRef>;

export const bindingFields = {
  subjects: s.list(subject, 'Who gets what the role allows.', atomic),
  roleRef: s.required(s.described(roleRef, 'The role; cannot change.')),
} as const;
