// The flags by which a machine joins a cluster, under kubeadm's names where it has them.
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError, type World } from '../flags/command.ts';
import { splitToken } from '../kinds/secret/bootstrap-token.ts';
import { readTokenFile, tokenVariable } from './read-token.ts';

export type JoinFlags = {
  readonly join?: readonly [string, ...string[]];
  readonly token?: string;
  readonly tokenFile?: string;
  readonly discoveryTokenCaCertHash?: readonly string[];
  readonly discoveryTokenUnsafeSkipCaVerification?: true;
};

export type JoinRequest = {
  /** `https://HOST:PORT`, of servers of one cluster: the first that answers is joined, all are remembered. */
  readonly servers: readonly [string, ...string[]];
  /** Or how to get it: what was joined before needs none. */
  readonly token: string | (() => Promise<string>);
  /** Hex SHA-256 of the public keys of authorities; empty: only the token's signature speaks for the authority. */
  readonly pins: readonly string[];
};

export function addJoinFlags(command: Command): Command {
  return command
    .option(
      '--join <url>',
      'become a member of the cluster of this server, unless that has been done before; repeated: more servers of it, asked when one fails',
      addServer,
    )
    .option(
      '--token-file <file>',
      `file with the bootstrap token to join with, of \`fairlead token create\`; - for standard input (default: the variable ${tokenVariable})`,
    )
    .option(
      '--token <token>',
      'the bootstrap token itself; other users of the machine may see it before it is hidden',
      token,
    )
    .option(
      '--discovery-token-ca-cert-hash <hash>',
      "sha256:HEX of the public key of the cluster's authority, may be repeated",
      pin,
    )
    .option(
      '--discovery-token-unsafe-skip-ca-verification',
      'join without such a hash: whoever knows the token could pass for the server',
    );
}

/** Undefined when nothing is to be joined. */
export function joinRequest(flags: JoinFlags, world: TokenWorld): JoinRequest | undefined {
  const { join: servers, discoveryTokenCaCertHash: pins = [] } = flags;
  const given = givenToken(flags, world);
  if (servers === undefined) {
    const isAsked = flags.token !== undefined || flags.tokenFile !== undefined;
    if (!isAsked && pins.length === 0) return undefined;
    throw new UsageError('Cannot join: --join with the address of a server is missing.');
  }
  if (given === undefined) {
    throw new UsageError(
      'Cannot join: --token-file is missing. Make a token with `fairlead token create`.',
    );
  }
  if (pins.length === 0 && flags.discoveryTokenUnsafeSkipCaVerification === undefined) {
    throw new UsageError(
      'Cannot join: --discovery-token-ca-cert-hash is missing; `fairlead token create` prints it.',
    );
  }
  return { servers, token: given, pins };
}

type TokenWorld = Pick<World, 'cwd' | 'env'>;

function givenToken(
  { token: given, tokenFile }: JoinFlags,
  world: TokenWorld,
): JoinRequest['token'] | undefined {
  if (given !== undefined && tokenFile !== undefined) {
    throw new UsageError('Cannot join: name one of --token-file and --token.');
  }
  if (tokenFile !== undefined) {
    return async () =>
      checked(await readTokenFile(tokenFile, world), `--token-file "${tokenFile}"`);
  }
  const variable = world.env[tokenVariable];
  return given ?? (variable && checked(variable.trim(), `the variable ${tokenVariable}`));
}

/** What was given may be a secret with a typing error: it is not repeated. */
function checked(text: string, where: string): string {
  if (splitToken(text) !== undefined) return text;
  throw new UsageError(
    `Cannot join: ${where} has no bootstrap token; it must be one like abcdef.0123456789abcdef.`,
  );
}

function addServer(text: string, before?: JoinRequest['servers']): JoinRequest['servers'] {
  const server = serverUrl(text);
  return before === undefined ? [server] : [...before, server];
}

function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && url.pathname === '/' && url.search === '') return url.origin;
  throw new InvalidArgumentError(
    `"${text}" is not the address of a server; it must be one like https://10.0.0.1:6443.`,
  );
}

function token(text: string): string {
  if (splitToken(text) !== undefined) return text;
  // What was given may be a secret with a typing error: it is not repeated.
  throw new InvalidArgumentError(
    'that is not a bootstrap token; it must be one like abcdef.0123456789abcdef.',
  );
}

function pin(text: string, before: readonly string[] = []): readonly string[] {
  const [, hex] = /^sha256:([0-9a-f]{64})$/i.exec(text) ?? [];
  if (hex !== undefined) return [...before, hex.toLowerCase()];
  throw new InvalidArgumentError(`"${text}" is not a hash; it must be sha256: and 64 hex digits.`);
}
