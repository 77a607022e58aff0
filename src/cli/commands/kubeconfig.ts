// Creates kubeconfigs: with a client certificate signed by the CA of the server, or with a token.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { issueClientCertificate } from '../../apiserver/certificates/authority.ts';
import {
  type KubeconfigOptions,
  renderKubeconfig,
} from '../../apiserver/certificates/kubeconfig-file.ts';
import { readPrivateFile, writePrivateFile } from '../../apiserver/certificates/private-file.ts';
import type { KeyPair } from '../../apiserver/certificates/x509.ts';
import type { Connection } from '../../client/read-kubeconfig.ts';
import {
  addClientFlags,
  type ClientFlags,
  connect,
  withSession,
} from '../../flags/client-flags.ts';
import { type CommandDefinition, UsageError, type World } from '../../flags/command.ts';
import { days, repeated } from '../../flags/parse-flags.ts';
import { readTokenFile } from '../../join/read-token.ts';
import { addTokenFlags, requestToken, type TokenFlags } from '../tokens/request-token.ts';

type KubeconfigFlags = ClientFlags &
  TokenFlags & {
    readonly user?: string;
    readonly group?: readonly string[];
    readonly days: number;
    readonly serviceAccount?: string;
    readonly token?: string;
    readonly tokenFile?: string;
    readonly server?: readonly string[];
    readonly dataDir: string;
    readonly output?: string;
  };

export const kubeconfig: CommandDefinition = {
  configure(command, world) {
    addTokenFlags(addClientFlags(command))
      .option(
        '--user <name>',
        'User name of a client certificate, which is signed with the CA in --data-dir',
      )
      .option('--group <name>', 'Group of the user. May be repeated', repeated)
      .option('--days <n>', 'Lifetime of the certificate in days', days, 365)
      .option(
        '--service-account <name>',
        'Service account whose token is requested from the server',
      )
      .option('--token-file <file>', 'File with a token, or "-" for standard input')
      .option(
        '--token <token>',
        'Token. Other users of the machine may see it briefly in the process list',
      )
      .option(
        '--server <url>',
        'Server URL. May be repeated for several servers of one cluster (default: those of the current kubeconfig)',
        repeated,
      )
      .option('--data-dir <dir>', 'Data directory of the server, with its CA', '.fairlead')
      .option(
        '-o, --output <file>',
        'File to write, readable only by its owner (default: standard output)',
      )
      .action(async (flags: KubeconfigFlags) => run(flags, world));
  },
};

async function run(flags: KubeconfigFlags, world: World): Promise<void> {
  const { user, serviceAccount, token, tokenFile } = flags;
  const ways = [user, serviceAccount, token, tokenFile].filter((way) => way !== undefined);
  if (ways.length !== 1) {
    throw new UsageError('Name one of --user, --service-account, --token-file and --token.');
  }
  const text = renderKubeconfig(
    flags.user === undefined
      ? await withToken(flags, world)
      : await withCertificate(flags, flags.user, world),
  );
  if (flags.output === undefined) world.write(text);
  else await writePrivateFile(resolve(world.cwd(), flags.output), text);
}

async function withCertificate(
  flags: KubeconfigFlags,
  user: string,
  world: World,
): Promise<KubeconfigOptions> {
  const directory = resolve(world.cwd(), flags.dataDir);
  const authority = await readAuthority(join(directory, 'pki'));
  const { group: organizations = [], namespace } = flags;
  const options = { commonName: user, organizations, days: flags.days, now: world.now() };
  return {
    ...(named(flags) ?? (await knownServers(flags, join(directory, 'kubeconfig'), world))),
    authority: authority.certificate,
    client: issueClientCertificate(authority, options),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

async function readAuthority(directory: string): Promise<KeyPair> {
  const [certificate, privateKey] = await Promise.all([
    readPrivateFile(join(directory, 'ca.crt')),
    readPrivateFile(join(directory, 'ca.key')),
  ]);
  if (certificate !== undefined && privateKey !== undefined) return { certificate, privateKey };
  throw new UsageError(
    `Cannot find the authority of a server: "${directory}" has no ca.crt and ca.key. Name the data directory of the server with --data-dir.`,
  );
}

/** Of the kubeconfig named, or the one that the server itself wrote beside its data. */
async function knownServers(
  flags: KubeconfigFlags,
  beside: string,
  world: World,
): Promise<Servers> {
  const isBeside = flags.kubeconfig === undefined && existsSync(beside);
  return serversOf(await connect(isBeside ? { ...flags, kubeconfig: beside } : flags, world));
}

type Servers = Pick<KubeconfigOptions, 'server' | 'otherServers'>;

/** Undefined when the flag is not given. */
function named({ server: [server, ...otherServers] = [] }: KubeconfigFlags): Servers | undefined {
  return server === undefined ? undefined : { server, otherServers };
}

function serversOf({ server, otherServers }: Connection): Servers {
  return { server, ...(otherServers === undefined ? {} : { otherServers }) };
}

async function withToken(flags: KubeconfigFlags, world: World): Promise<KubeconfigOptions> {
  return await withSession(flags, world, async (session) => {
    const { certificateAuthority: authority } = session.connection;
    if (authority === undefined) {
      throw new UsageError('Cannot make a kubeconfig: our own names no certificate authority.');
    }
    const { serviceAccount, tokenFile } = flags;
    const token = tokenFile === undefined ? flags.token : await readTokenFile(tokenFile, world);
    const isAccount = serviceAccount !== undefined;
    const namespace = isAccount ? session.namespace : flags.namespace;
    return {
      ...(named(flags) ?? serversOf(session.connection)),
      authority,
      client: {
        token: isAccount ? await requestToken(session, serviceAccount, flags) : (token ?? ''),
      },
      ...(namespace === undefined ? {} : { namespace }),
    };
  });
}
