// Acting as somebody else: the Impersonate-* headers, for those who may. Two ways lead there. The narrow ones
// (KEP 5284) need the right to be that user AND the right to do just this as him; the old one needs only the
// verb `impersonate`. The first that allows it decides who the user then is.
import { type ApiError, badRequest } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
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
  /** Who really asks. */
  readonly user: User;
  /** What he asks for. */
  readonly attributes: AccessAttributes;
  readonly authorizer: Authorizer;
};

/** The user to go on as: the one of the headers, or the real one without any. Throws 400 and 403. */
export function impersonate({ request, user, attributes, authorizer }: Impersonation): User {
  const wanted = wantedUser(request);
  if (wanted === undefined) return user;
  let firstRefusal: ApiError | undefined;
  for (const mode of modes) {
    if (!mode.applies(wanted)) continue;
    const { refused, acting } = attempt({ mode, wanted, user, attributes, authorizer });
    if (refused === undefined) return acting;
    firstRefusal ??= refused;
  }
  throw firstRefusal ?? new Error('no impersonation mode applies');
}

type Wanted = User & {
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
};

const prefix = 'impersonate-';
const firstLetter = prefix.charCodeAt(0);
const extraPrefix = 'impersonate-extra-';

/** Asked of every request, and hardly any has one. */
function isAsked({ headers }: ApiRequest): boolean {
  for (const name in headers) {
    if (name.charCodeAt(0) === firstLetter && name.startsWith(prefix)) return true;
  }
  return false;
}

function wantedUser(request: ApiRequest): Wanted | undefined {
  if (!isAsked(request)) return undefined;
  const present = Object.keys(request.headers).filter((name) => name.startsWith(prefix));
  const groups = values(request, 'impersonate-group');
  const extra = wantedExtra(request, present);
  const name = header(request, 'impersonate-user') ?? '';
  const uid = header(request, 'impersonate-uid') ?? '';
  if (name !== '') return { name, uid, groups, extra };
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(
    `requested ${goUser({ name, uid, groups, extra })} without impersonating a user name`,
  );
}

function wantedExtra(request: ApiRequest, present: readonly string[]): Wanted['extra'] {
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
  return value === undefined ? [] : typeof value === 'string' ? [value] : value;
}

/** Keys may hold what header names cannot, percent-encoded. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    if (error instanceof URIError) return key;
    throw error;
  }
}

/** The user as Go prints it with %#v. */
function goUser({ name, uid, groups, extra }: Wanted): string {
  const list = (texts: readonly string[]): string => `{${texts.map(goQuote).join(', ')}}`;
  const shownGroups = groups.length === 0 ? '[]string(nil)' : `[]string${list(groups)}`;
  const keys = Object.keys(extra).sort();
  const entries = keys.map((key) => `${goQuote(key)}:[]string${list(extra[key] ?? [])}`);
  const shownExtra =
    keys.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

type Mode = {
  /** Of the narrow modes; absent for the old one. */
  readonly name?: string;
  readonly applies: (wanted: Wanted) => boolean;
};

const nothingButName = ({ uid, groups, extra }: Wanted): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
const isNode = ({ name }: Wanted): boolean => nodeOf(name) !== undefined;
const isServiceAccount = ({ name }: Wanted): boolean => serviceAccountOf(name) !== undefined;

const modes: readonly Mode[] = [
  { name: 'arbitrary-node', applies: (wanted) => nothingButName(wanted) && isNode(wanted) },
  {
    name: 'serviceaccount',
    applies: (wanted) => nothingButName(wanted) && isServiceAccount(wanted),
  },
  { name: 'user-info', applies: (wanted) => !isNode(wanted) && !isServiceAccount(wanted) },
  { applies: () => true },
];

type Attempt = Omit<Impersonation, 'request'> & { readonly mode: Mode; readonly wanted: Wanted };

function attempt(asked: Attempt): { readonly refused?: ApiError; readonly acting: User } {
  const { mode, wanted, user, attributes, authorizer } = asked;
  const narrow = mode.name !== undefined;
  const checks = [
    ...(narrow ? [{ ...attributes, verb: `impersonate-on:${mode.name}:${attributes.verb}` }] : []),
    ...identityChecks(wanted, mode),
  ];
  for (const check of checks) {
    const { allowed, reason } = authorizer.authorize(user, check);
    const objection = narrow ? objectionTo(check) : '';
    if (!allowed || objection !== '') {
      return { refused: forbiddenAccess(user, check, objection || reason), acting: user };
    }
  }
  return { acting: actingUser(wanted, narrow) };
}

/** One question for each thing that the user wants to be. */
function identityChecks(wanted: Wanted, mode: Mode): readonly AccessAttributes[] {
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
    check({ group, ...userTarget(wanted.name, mode.name !== undefined) }),
    ...(wanted.uid === '' ? [] : [check({ resource: 'uids', name: wanted.uid })]),
    ...wanted.groups.map((name) => check({ group, resource: 'groups', name })),
    ...Object.entries(wanted.extra).flatMap(([subresource, names]) =>
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

/** What the narrow modes never allow, whoever asks. */
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

/** Groups follow from the name where that is certain; being authenticated or not is a group too. */
function actingUser({ name, uid, groups, extra }: Wanted, narrow: boolean): User {
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
    groups: withStanding(name, implied),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function withStanding(name: string, groups: readonly string[]): readonly string[] {
  const standing = name === anonymousUser ? unauthenticatedGroup : authenticatedGroup;
  if (groups.includes(standing)) return groups;
  if (name !== anonymousUser && groups.includes(unauthenticatedGroup)) return groups;
  return [...groups, standing];
}
