// Decisions of access control, remembered: what is asked comes again and again.
import type { AccessAttributes, AccessDecision, User } from './user.ts';

type Decide = (user: User, asked: AccessAttributes) => AccessDecision;

/** `known` gives an empty map whenever what was decided may be no longer right. */
export function cacheDecisions(decide: Decide, known: () => Map<string, AccessDecision>): Decide {
  return (user, asked) => {
    const key = questionKey(user, asked);
    if (key === undefined) return decide(user, asked);
    const decisions = known();
    let decision = decisions.get(key);
    if (decision === undefined) {
      decision = decide(user, asked);
      if (decisions.size >= maxDecisions) decisions.clear();
      decisions.set(key, decision);
    }
    return decision;
  };
}

/** Some hundred bytes each: what a busy server asks between two changes. */
const maxDecisions = 10_000;
const separator = '\u0000';

/** Never the same for two questions: whoever asks with a separator, which no name has, gets no key. */
function questionKey(user: User, asked: AccessAttributes): string | undefined {
  const who = userKey(user);
  if (asked.kind === 'path') {
    if (asked.path.includes(separator)) return undefined;
    return `path${who}${asked.verb}${separator}${asked.path}`;
  }
  const { verb, group, resource, subresource, namespace, name } = asked;
  const isOdd =
    verb.includes(separator) ||
    group.includes(separator) ||
    resource.includes(separator) ||
    subresource.includes(separator) ||
    namespace.includes(separator) ||
    name.includes(separator);
  if (isOdd) return undefined;
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
