// Lists and deletes bootstrap tokens. Their secrets are not shown.
import { resourceClient } from '../../client/rest.ts';
import { type ClientFlags, withSession } from '../../flags/client-flags.ts';
import { FailedError, type World } from '../../flags/command.ts';
import {
  type BootstrapToken,
  bootstrapTokenName,
  bootstrapTokenNamespace,
  bootstrapTokenType,
  hasExpired,
  readBootstrapToken,
} from '../../kinds/secret/bootstrap-token.ts';
import { secretDefinition } from '../../kinds/secret/definition.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { humanDuration } from '../../schema/time.ts';
import { alignColumns } from '../output/print.ts';

export async function printTokens(flags: ClientFlags, world: World): Promise<void> {
  const { items } = await withSession(flags, world, ({ caller }) =>
    resourceClient(caller, secretDefinition).list({
      namespace: bootstrapTokenNamespace,
      fieldSelector: `type=${bootstrapTokenType}`,
    }),
  );
  const tokens = items.flatMap((secret) => readBootstrapToken(secret) ?? []);
  world.write(tokenTable(tokens, world.now()));
}

function tokenTable(tokens: readonly BootstrapToken[], now: number): string {
  const head = ['ID', 'LEFT', 'USAGES', 'GROUPS', 'DESCRIPTION'];
  const rows = tokens.map((token) => [
    token.id,
    token.expires === undefined
      ? 'forever'
      : hasExpired(token, now)
        ? 'none'
        : humanDuration(token.expires - now),
    token.usages.join(',') || '<none>',
    token.groups.join(',') || '<none>',
    token.description ?? '<none>',
  ]);
  return alignColumns([head, ...rows]).text;
}

/** `ids` may also be whole tokens. */
export async function deleteTokens(
  ids: readonly string[],
  flags: ClientFlags,
  world: World,
): Promise<void> {
  await withSession(flags, world, async ({ caller }) => {
    for (const given of ids) {
      const [id = ''] = given.split('.');
      try {
        await resourceClient(caller, secretDefinition).delete({
          namespace: bootstrapTokenNamespace,
          name: bootstrapTokenName(id),
        });
      } catch (error) {
        if (!isNotFound(error)) throw error;
        throw new FailedError(`There is no bootstrap token "${id}".`, { cause: error });
      }
      world.write(`bootstrap token "${id}" deleted\n`);
    }
  });
}
