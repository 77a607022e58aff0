// The manifests in docs/deploy/kubernetes/rbac, made of what the parts declare.

import {
  controllerRoleName,
  controllerRoles,
} from '../../../src/apiserver/access/bootstrap-controller-roles.ts';
import { missingRules } from '../../../src/apiserver/access/missing-rules.ts';
import { announcerRights } from '../../../src/cloud/announce/rights.ts';
import { cloudRights } from '../../../src/cloud/rights.ts';
import { allControllers } from '../../../src/controllers/all.ts';
import type { Controller } from '../../../src/controllers/controller.ts';
import { accountNamespace, actingRights, leadingRights } from '../../../src/controllers/rights.ts';
import { dnsRights } from '../../../src/dns/rights.ts';
import { doctorRights } from '../../../src/doctor/rights.ts';
import type { Right } from '../../../src/kinds/rbac/rights.ts';
import { mayLead } from '../../../src/kinds/rbac/rights.ts';
import type { PolicyRule } from '../../../src/kinds/rbac/types.ts';
import { proxyRights } from '../../../src/proxy/rights.ts';

export type Grant = {
  /** Of the roles and of their bindings. */
  readonly name: string;
  /** A service account in kube-system. */
  readonly account: string;
  readonly comment?: string;
  readonly rights: readonly Right[];
};

export type RoleManifest = {
  readonly file: string;
  readonly comment: string;
  /** That the manifest makes. */
  readonly account: string;
  readonly grants: readonly Grant[];
};

const one = (part: string, comment: string, rights: readonly Right[]): RoleManifest => {
  const account = `fairlead-${part}`;
  return { file: `${part}.yaml`, comment, account, grants: [{ name: account, account, rights }] };
};

/** As one user: that of the program. */
const manager = 'fairlead-controllers';
const schedulerAlone = allControllers.filter(({ name }) => name === 'scheduler');

export const roleManifests: readonly RoleManifest[] = [
  {
    file: 'controllers.yaml',
    comment:
      'What `fairlead controllers` may do as one user. Each controller has a role of its own: leave out the bindings of those that do not run.',
    account: manager,
    grants: [
      { name: manager, account: manager, rights: leadingRights },
      ...allControllers.map((controller) => ({
        name: `${manager}:${controller.name}`,
        account: manager,
        rights: [...controller.watches, ...controller.rights],
      })),
    ],
  },
  {
    file: 'controllers-own-accounts.yaml',
    comment:
      'What `fairlead controllers --use-service-account-credentials` may do: the program reads, and gives each controller a token of its own service account. Those have the roles system:controller:NAME of every API server; here is what these lack.',
    account: manager,
    grants: [
      { name: manager, account: manager, rights: [...leadingRights, ...actingRights] },
      { name: `${manager}:read`, account: manager, rights: sharedWatches(allControllers) },
      ...allControllers.flatMap(beyondDefaultRole),
    ],
  },
  {
    file: 'scheduler.yaml',
    comment:
      'What `fairlead controllers --controllers=scheduler --leader-elect-resource-name=fairlead-scheduler` may do.',
    account: 'fairlead-scheduler',
    grants: [
      {
        name: 'fairlead-scheduler',
        account: 'fairlead-scheduler',
        rights: [
          ...schedulerAlone.flatMap(({ watches, rights }) => [...watches, ...rights]),
          ...mayLead({ namespace: 'kube-system', name: 'fairlead-scheduler' }),
        ],
      },
    ],
  },
  one('proxy', 'What `fairlead proxy` may do.', proxyRights),
  one('dns', 'What `fairlead dns` may do.', dnsRights),
  one('cloud', 'What `fairlead cloud` may do, with any provider.', cloudRights),
  one('announcer', 'What `fairlead announcer` may do.', announcerRights),
  one(
    'doctor',
    'What `fairlead doctor` may do: it reads. With --fix it writes as its user.',
    doctorRights,
  ),
];

/** Rules in the order of the rights; equal ones once, and resources of one group with the same verbs together. */
export function rulesOf(rights: readonly Right[]): readonly PolicyRule[] {
  const rules = new Map<string, { readonly first: Right; readonly resources: Set<string> }>();
  for (const right of rights) {
    const { verbs, group, resources, names = [], onlyWith, onlyElsewhere } = right;
    const key = JSON.stringify([verbs, group, names, onlyWith, onlyElsewhere]);
    const same = rules.get(key) ?? { first: right, resources: new Set() };
    rules.set(key, same);
    for (const resource of resources) same.resources.add(resource);
  }
  return [...rules.values()].map(({ first: { verbs, group, names }, resources }) => ({
    apiGroups: [group],
    resources: [...resources],
    ...(names === undefined ? {} : { resourceNames: names }),
    verbs,
  }));
}

function sharedWatches(controllers: readonly Controller[]): readonly Right[] {
  return controllers.flatMap(({ watches }) => watches);
}

/** What the account lacks of its default role, of which Fairlead's server and others have the same. */
function beyondDefaultRole({ name, account, rights }: Controller): readonly Grant[] {
  const role = controllerRoles.find(
    ({ metadata }) => metadata.name === controllerRoleName(account),
  );
  // Fairlead's own, which other servers do not have.
  const held = account === 'allocator-repair' ? [] : (role?.rules ?? []);
  const inNamespace = new Set(['bootstrap-signer', 'token-cleaner']);
  // Their roles are in namespaces, and every server has them.
  if (inNamespace.has(account)) return [];
  const lacking = rights.filter((right) => missingRules(held, rulesOf([right])).parts.length > 0);
  return lacking.length === 0 ? [] : [{ name: `${manager}:${name}`, account, rights: lacking }];
}

export function manifestText({ comment, account, grants }: RoleManifest): string {
  const head = `# Written by the unit tests with FAIRLEAD_UPDATE_DOCS=1, from what the program declares.\n# ${comment}\n`;
  const accounts = [account, ...grants.map((grant) => grant.account)].map(
    (name) => `apiVersion: v1
kind: ServiceAccount
metadata:
  name: ${name}
  namespace: ${accountNamespace}
`,
  );
  return head + [...new Set(accounts), ...grants.flatMap(grantTexts)].join('---\n');
}

function grantTexts(grant: Grant): readonly string[] {
  const namespaces = [...new Set(grant.rights.map(({ namespace }) => namespace))];
  return namespaces.flatMap((namespace) => {
    const rights = grant.rights.filter((right) => right.namespace === namespace);
    const prefix = namespace === undefined ? 'Cluster' : '';
    const metadata = `metadata:\n  name: ${grant.name}\n${namespace === undefined ? '' : `  namespace: ${namespace}\n`}`;
    return [
      `apiVersion: rbac.authorization.k8s.io/v1\nkind: ${prefix}Role\n${metadata}rules:\n${groupedRules(rights)}`,
      `apiVersion: rbac.authorization.k8s.io/v1
kind: ${prefix}RoleBinding
${metadata}roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${prefix}Role
  name: ${grant.name}
subjects:
  - kind: ServiceAccount
    name: ${grant.account}
    namespace: ${accountNamespace}
`,
    ];
  });
}

function groupedRules(rights: readonly Right[]): string {
  const comments = [...new Set(rights.map(commentOf))];
  return comments
    .map((comment) => {
      const rules = rulesOf(rights.filter((right) => commentOf(right) === comment));
      return (comment === '' ? '' : `  # ${comment}\n`) + rules.map(ruleText).join('');
    })
    .join('');
}

function commentOf({ onlyWith, onlyElsewhere }: Right): string {
  if (onlyWith !== undefined) return `Only with ${onlyWith}.`;
  return onlyElsewhere === undefined
    ? ''
    : `${onlyElsewhere[0]?.toUpperCase()}${onlyElsewhere.slice(1)}.`;
}

function ruleText({ apiGroups = [], resources = [], resourceNames, verbs }: PolicyRule): string {
  const list = (words: readonly string[]): string =>
    `[${words.map((word) => (/^[a-z][\w./-]*$/.test(word) ? word : `"${word}"`)).join(', ')}]`;
  const names = resourceNames === undefined ? '' : `    resourceNames: ${list(resourceNames)}\n`;
  return `  - apiGroups: ${list(apiGroups)}\n    resources: ${list(resources)}\n${names}    verbs: ${list(verbs ?? [])}\n`;
}
