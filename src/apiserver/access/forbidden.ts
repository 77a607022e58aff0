// The response to a request that is not authorized, with upstream's messages.
import { type ApiError, failure, forbidden } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { AccessAttributes, User } from './user.ts';

/** `reason` is the authorizer's, often empty. */
export function forbiddenAccess(
  user: User,
  attributes: AccessAttributes,
  reason: string,
): ApiError {
  const refusal = withoutMarkup(refusalText(user, attributes));
  const why = reason === '' ? refusal : `${refusal}: ${reason}`;
  if (attributes.kind === 'path') {
    return failure({ code: 403, reason: 'Forbidden', message: `forbidden: ${why}`, details: {} });
  }
  return forbidden(attributes, attributes.name, why);
}

function refusalText(user: User, attributes: AccessAttributes): string {
  const who = `User ${goQuote(user.name)} cannot ${attributes.verb}`;
  if (attributes.kind === 'path') return `${who} path ${goQuote(attributes.path)}`;
  const { resource, subresource, group, namespace } = attributes;
  const what = goQuote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where =
    namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${what} in API group ${goQuote(group)} ${where}`;
}

/** Names come from the client, and old browsers may render the message as HTML. */
function withoutMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
