// Creates tokens: bootstrap tokens, tokens of service accounts, and lines of the server's token file.
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readPrivateFile, writePrivateFile } from '../../apiserver/certificates/private-file.ts';
import { readTokenFile, tokenLine } from '../../apiserver/tokens/token-file.ts';
import {
  addClientFlags,
  addConnectionFlags,
  type ClientFlags,
  withSession,
} from '../../flags/client-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../../flags/command.ts';
import { repeated } from '../../flags/parse-flags.ts';
import {
  addBootstrapFlags,
  type BootstrapFlags,
  printJoinCommand,
} from '../tokens/create-bootstrap-token.ts';
import { deleteTokens, printTokens } from '../tokens/list-bootstrap-tokens.ts';
import { addTokenFlags, requestToken, type TokenFlags } from '../tokens/request-token.ts';

type CreateFlags = ClientFlags &
  BootstrapFlags &
  TokenFlags & {
    readonly user?: string;
    readonly group?: readonly string[];
    readonly uid?: string;
    readonly tokenAuthFile?: string;
  };

export const token: CommandDefinition = {
  configure(command, world) {
    configureCreate(command.command('create'), world);
    addConnectionFlags(command.command('list'))
      .description('Lists the bootstrap tokens')
      .action(async (flags: ClientFlags) => printTokens(flags, world));
    addConnectionFlags(command.command('delete'))
      .description('Deletes bootstrap tokens. Nodes that joined with them keep their credentials')
      .argument('<id...>', 'Token IDs: the part of each token before the dot')
      .action(async (ids: readonly string[], flags: ClientFlags) =>
        deleteTokens(ids, flags, world),
      );
  },
};

function configureCreate(command: Command, world: World): void {
  command
    .description(
      'Creates a bootstrap token and prints the command that joins a node with it; or creates a token of a service account; or, with --user, a line for the file of --token-auth-file',
    )
    .argument('[service-account]', 'Name of the service account');
  addBootstrapFlags(addTokenFlags(addClientFlags(command)))
    .option('--user <name>', 'User of the new token')
    .option('--group <name>', 'Group of the user. May be repeated', repeated)
    .option('--uid <uid>', 'UID of the user')
    .option(
      '--token-auth-file <file>',
      'Appends the line to this file, which the server reloads, and prints the token alone',
    )
    .action(async (account: string | undefined, flags: CreateFlags) => {
      if (account !== undefined && flags.user !== undefined) {
        throw new UsageError('Name a service account, or a user with --user, not both.');
      }
      if (account !== undefined) await printServiceAccountToken(account, flags, world);
      else if (flags.user !== undefined) await makeUserToken(flags, world);
      else await printJoinCommand(flags, world);
    });
}

async function printServiceAccountToken(
  account: string,
  flags: CreateFlags,
  world: World,
): Promise<void> {
  const made = await withSession(flags, world, (session) => requestToken(session, account, flags));
  world.write(`${made}\n`);
}

/** 256 bits of randomness. */
const tokenBytes = 32;

async function makeUserToken(flags: CreateFlags, world: World): Promise<void> {
  const { user: name = '', group: groups = [], uid, tokenAuthFile } = flags;
  const made = randomBytes(tokenBytes).toString('base64url');
  const line = tokenLine(made, { name, groups, ...(uid === undefined ? {} : { uid }) });
  if (tokenAuthFile === undefined) {
    world.write(line);
    return;
  }
  await addLine(resolve(world.cwd(), tokenAuthFile), line);
  world.write(`${made}\n`);
}

/** Refuses a file that the server could not parse. */
async function addLine(path: string, line: string): Promise<void> {
  const before = (await readPrivateFile(path)) ?? '';
  const after = `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${line}`;
  const read = readTokenFile(after);
  if ('problems' in read) {
    throw new UsageError(`Cannot add to the token file "${path}": ${read.problems.join('; ')}`);
  }
  await writePrivateFile(path, after);
}
