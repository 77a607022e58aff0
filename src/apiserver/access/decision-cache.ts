// Caches the decisions of an authorizer: clients repeat the same requests.
import type { AccessAttributes, AccessDecision, User } from './user.ts';

type Authorize = (user: User, attributes: AccessAttributes) => AccessDecision;

/** `current` returns an empty map after a change that may affect decisions. */
export function cacheDecisions(
  authorize: Authorize,
  current: () => Map<string, AccessDecision>,
): Authorize {
  return (user, attributes) => {
    const key = cacheKey(user, attributes);
    if (key === undefined) return authorize(user, attributes);
    const decisions = current();
    let decision = decisions.get(key);
    if (decision === undefined) {
      decision = authorize(user, attributes);
      if (decisions.size >= maxDecisions) decisions.clear();
      decisions.set(key, decision);
    }
    return decision;
  };
}

/** A few hundred bytes each; more than a busy server decides between two changes. */
const maxDecisions = 10_000;
const separator = '\u0000';

/** Unique: attributes that contain the separator, which no valid name does, are not cached. */
function cacheKey(user: User, attributes: AccessAttributes): string | undefined {
  const who = userKey(user);
  if (attributes.kind === 'path') {
    if (attributes.path.includes(separator)) return undefined;
    return `path${who}${attributes.verb}${separator}${attributes.path}`;
  }
  const { verb, group, resource, subresource, namespace, name } = attributes;
  const hasSeparator =
    verb.includes(separator) ||
    group.includes(separator) ||
    resource.includes(separator) ||
    subresource.includes(separator) ||
    namespace.includes(separator) ||
    name.includes(separator);
  if (hasSeparator) return undefined;
  return `${who}${verb}${separator}${group}${separator}${resource}${separator}${subresource}${separator}${namespace}${separator}${name}`;
}

const userKeys = new WeakMap<User, string>();

function userKey(user: User): string {
  let key = userKeys.get(user);
  if (key === undefined) {
    key = JSON.stringify([user.name, user.groups]);
    userKeys.set(user, key);
  }
  return key;
}
