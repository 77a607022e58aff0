// Impersonation of another user by the Impersonate-* headers. The constrained modes (KEP-5284) need the right to
// impersonate that user AND the right to do this request as such a user; the legacy mode needs only the verb
// `impersonate`. The first mode that allows the request determines the user.
import { type ApiError, badRequest } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { decodeHeaderValue } from '../listen/header-value.ts';
import { type ApiRequest, header } from '../message.ts';
import type { Authorizer } from './authorize.ts';
import { forbiddenAccess } from './forbidden.ts';
import {
  anonymousUser,
  authenticatedGroup,
  mastersGroup,
  nodeOf,
  nodesGroup,
  serviceAccountGroups,
  serviceAccountOf,
  unauthenticatedGroup,
} from './known-users.ts';
import type { AccessAttributes, User } from './user.ts';

type Impersonation = {
  readonly request: ApiRequest;
  /** The authenticated user. */
  readonly user: User;
  /** Of the request. */
  readonly attributes: AccessAttributes;
  readonly authorizer: Authorizer;
};

/** The impersonated user, or the authenticated one without such headers. Throws 400 and 403. */
export function impersonate({ request, user, attributes, authorizer }: Impersonation): User {
  const requested = requestedUser(request);
  if (requested === undefined) return user;
  let firstRefusal: ApiError | undefined;
  for (const mode of modes) {
    if (!mode.applies(requested)) continue;
    const { refused, acting } = attempt({ mode, requested, user, attributes, authorizer });
    if (refused === undefined) return acting;
    firstRefusal ??= refused;
  }
  throw firstRefusal ?? new Error('no impersonation mode applies');
}

type RequestedUser = User & {
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
};

const prefix = 'impersonate-';
const firstLetter = prefix.charCodeAt(0);
const extraPrefix = 'impersonate-extra-';

/** Called for every request, and hardly any has one. */
function hasImpersonationHeader({ headers }: ApiRequest): boolean {
  for (const name in headers) {
    if (name.charCodeAt(0) === firstLetter && name.startsWith(prefix)) return true;
  }
  return false;
}

function requestedUser(request: ApiRequest): RequestedUser | undefined {
  if (!hasImpersonationHeader(request)) return undefined;
  const present = Object.keys(request.headers).filter((name) => name.startsWith(prefix));
  const groups = values(request, 'impersonate-group');
  const extra = requestedExtra(request, present);
  const name = decodeHeaderValue(header(request, 'impersonate-user') ?? '');
  const uid = decodeHeaderValue(header(request, 'impersonate-uid') ?? '');
  if (name !== '') return { name, uid, groups, extra };
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(
    `requested ${goUser({ name, uid, groups, extra })} without impersonating a user name`,
  );
}

function requestedExtra(request: ApiRequest, present: readonly string[]): RequestedUser['extra'] {
  const extra = new Map<string, readonly string[]>();
  for (const name of present) {
    if (!name.startsWith(extraPrefix)) continue;
    const key = unescapeKey(name.slice(extraPrefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...values(request, name)]);
  }
  return Object.fromEntries(extra);
}

function values(request: ApiRequest, name: string): readonly string[] {
  const value = request.headers[name];
  const list = value === undefined ? [] : typeof value === 'string' ? [value] : value;
  return list.map(decodeHeaderValue);
}

/** Keys are percent-encoded, for characters that header names cannot contain. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}

/** The user as Go prints it with %#v. */
function goUser({ name, uid, groups, extra }: RequestedUser): string {
  const list = (texts: readonly string[]): string => `{${texts.map(goQuote).join(', ')}}`;
  const shownGroups = groups.length === 0 ? '[]string(nil)' : `[]string${list(groups)}`;
  const keys = Object.keys(extra).sort();
  const entries = keys.map((key) => `${goQuote(key)}:[]string${list(extra[key] ?? [])}`);
  const shownExtra =
    keys.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

type Mode = {
  /** Of the constrained modes; absent for the legacy one. */
  readonly name?: string;
  readonly applies: (requested: RequestedUser) => boolean;
};

const nothingButName = ({ uid, groups, extra }: RequestedUser): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
const isNode = ({ name }: RequestedUser): boolean => nodeOf(name) !== undefined;
const isServiceAccount = ({ name }: RequestedUser): boolean => serviceAccountOf(name) !== undefined;

const modes: readonly Mode[] = [
  {
    name: 'arbitrary-node',
    applies: (requested) => nothingButName(requested) && isNode(requested),
  },
  {
    name: 'serviceaccount',
    applies: (requested) => nothingButName(requested) && isServiceAccount(requested),
  },
  { name: 'user-info', applies: (requested) => !isNode(requested) && !isServiceAccount(requested) },
  { applies: () => true },
];

type Attempt = Omit<Impersonation, 'request'> & {
  readonly mode: Mode;
  readonly requested: RequestedUser;
};

function attempt(options: Attempt): { readonly refused?: ApiError; readonly acting: User } {
  const { mode, requested, user, attributes, authorizer } = options;
  const narrow = mode.name !== undefined;
  const checks = [
    ...(narrow ? [{ ...attributes, verb: `impersonate-on:${mode.name}:${attributes.verb}` }] : []),
    ...identityChecks(requested, mode),
  ];
  for (const check of checks) {
    const { allowed, reason } = authorizer.authorize(user, check);
    const objection = narrow ? objectionTo(check) : '';
    if (!allowed || objection !== '') {
      return { refused: forbiddenAccess(user, check, objection || reason), acting: user };
    }
  }
  return { acting: actingUser(requested, narrow) };
}

/** One check for each requested name, UID, group and extra value. */
function identityChecks(requested: RequestedUser, mode: Mode): readonly AccessAttributes[] {
  const verb = mode.name === undefined ? 'impersonate' : `impersonate:${mode.name}`;
  const group = mode.name === undefined ? '' : authenticationGroup;
  const check = (
    attributes: Partial<AccessAttributes & { kind: 'resource' }>,
  ): AccessAttributes => ({
    kind: 'resource',
    verb,
    group: authenticationGroup,
    version: 'v1',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    ...attributes,
  });
  return [
    check({ group, ...userTarget(requested.name, mode.name !== undefined) }),
    ...(requested.uid === '' ? [] : [check({ resource: 'uids', name: requested.uid })]),
    ...requested.groups.map((name) => check({ group, resource: 'groups', name })),
    ...Object.entries(requested.extra).flatMap(([subresource, names]) =>
      names.map((name) => check({ resource: 'userextras', subresource, name })),
    ),
  ];
}

const authenticationGroup = 'authentication.k8s.io';

function userTarget(user: string, narrow: boolean) {
  const account = serviceAccountOf(user);
  if (account !== undefined) return { resource: 'serviceaccounts', ...account };
  const node = narrow ? nodeOf(user) : undefined;
  return node === undefined ? { resource: 'users', name: user } : { resource: 'nodes', name: node };
}

/** What the constrained modes never allow to any user. */
function objectionTo(check: AccessAttributes): string {
  if (check.kind === 'path' || !check.verb.startsWith('impersonate:')) return '';
  const { resource, name } = check;
  if (resource === 'groups' && name === '')
    return 'impersonating the empty string group is not allowed';
  if (resource === 'groups' && name === mastersGroup)
    return 'impersonating the system:masters group is not allowed';
  if (resource !== 'userextras') return '';
  if (check.subresource === '') return 'impersonating the empty string key in extra is not allowed';
  return name === '' ? 'impersonating the empty string value in extra is not allowed' : '';
}

/** Adds the groups that follow from the name: of service accounts, of nodes, and whether the user is authenticated. */
function actingUser({ name, uid, groups, extra }: RequestedUser, narrow: boolean): User {
  const account = serviceAccountOf(name);
  const implied =
    account !== undefined && groups.length === 0
      ? serviceAccountGroups(account.namespace)
      : narrow && nodeOf(name) !== undefined
        ? [nodesGroup]
        : groups;
  return {
    name,
    ...(uid === '' ? {} : { uid }),
    groups: withAuthenticationGroup(name, implied),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function withAuthenticationGroup(name: string, groups: readonly string[]): readonly string[] {
  const group = name === anonymousUser ? unauthenticatedGroup : authenticatedGroup;
  if (groups.includes(group)) return groups;
  if (name !== anonymousUser && groups.includes(unauthenticatedGroup)) return groups;
  return [...groups, group];
}
