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
  /** `https://HOST:PORT` of servers of one cluster: joins through the first that responds, and stores all. */
  readonly servers: readonly [string, ...string[]];
  /** A function reads it only when it is needed: a machine that has joined before needs none. */
  readonly token: string | (() => Promise<string>);
  /** Hex SHA-256 of the public keys of authorities; empty: only the token's signature authenticates the authority. */
  readonly pins: readonly string[];
};

export function addJoinFlags(command: Command): Command {
  return command
    .option(
      '--join <url>',
      'URL of the API server of the cluster to join, if this machine has not joined it before. May be repeated for further servers of the cluster, for failover',
      addServer,
    )
    .option(
      '--token-file <file>',
      `File with the bootstrap token from \`fairlead token create\`, or "-" for standard input (default: the environment variable ${tokenVariable})`,
    )
    .option(
      '--token <token>',
      'Bootstrap token. Other users of the machine may see it briefly in the process list',
      token,
    )
    .option(
      '--discovery-token-ca-cert-hash <hash>',
      "Hash of the public key of the cluster's CA, as sha256:HEX. May be repeated",
      pin,
    )
    .option(
      '--discovery-token-unsafe-skip-ca-verification',
      "Joins without verifying the cluster's CA. Anyone who knows the token could impersonate the server",
    );
}

/** Undefined when no cluster is to be joined. */
export function joinRequest(flags: JoinFlags, world: TokenWorld): JoinRequest | undefined {
  const { join: servers, discoveryTokenCaCertHash: pins = [] } = flags;
  const tokenFlag = tokenOf(flags, world);
  if (servers === undefined) {
    const hasToken = flags.token !== undefined || flags.tokenFile !== undefined;
    if (!hasToken && pins.length === 0) return undefined;
    throw new UsageError('Cannot join: --join with the address of a server is missing.');
  }
  if (tokenFlag === undefined) {
    throw new UsageError(
      'Cannot join: --token-file is missing. Create a token with `fairlead token create`.',
    );
  }
  if (pins.length === 0 && flags.discoveryTokenUnsafeSkipCaVerification === undefined) {
    throw new UsageError(
      'Cannot join: --discovery-token-ca-cert-hash is missing; `fairlead token create` prints it.',
    );
  }
  return { servers, token: tokenFlag, pins };
}

type TokenWorld = Pick<World, 'cwd' | 'env'>;

function tokenOf(
  { token: tokenFlag, tokenFile }: JoinFlags,
  world: TokenWorld,
): JoinRequest['token'] | undefined {
  if (tokenFlag !== undefined && tokenFile !== undefined) {
    throw new UsageError('Cannot join: --token-file and --token are mutually exclusive.');
  }
  if (tokenFile !== undefined) {
    return async () =>
      requireToken(await readTokenFile(tokenFile, world), `--token-file "${tokenFile}"`);
  }
  const variable = world.env[tokenVariable];
  return tokenFlag ?? (variable && requireToken(variable.trim(), `the variable ${tokenVariable}`));
}

/** The error does not quote the text: it may be a token with a typing error. */
function requireToken(text: string, where: string): string {
  if (splitToken(text) !== undefined) return text;
  throw new UsageError(
    `Cannot join: ${where} has no bootstrap token; want one like abcdef.0123456789abcdef.`,
  );
}

function addServer(text: string, previous?: JoinRequest['servers']): JoinRequest['servers'] {
  const server = serverUrl(text);
  return previous === undefined ? [server] : [...previous, server];
}

function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' && url.pathname === '/' && url.search === '') return url.origin;
  throw new InvalidArgumentError(
    `"${text}" is not the URL of a server; want one like https://10.0.0.1:6443.`,
  );
}

function token(text: string): string {
  if (splitToken(text) !== undefined) return text;
  // The text is not quoted: it may be a token with a typing error.
  throw new InvalidArgumentError('not a bootstrap token; want one like abcdef.0123456789abcdef.');
}

function pin(text: string, previous: readonly string[] = []): readonly string[] {
  const [, hex] = /^sha256:([0-9a-f]{64})$/i.exec(text) ?? [];
  if (hex !== undefined) return [...previous, hex.toLowerCase()];
  throw new InvalidArgumentError(`"${text}" is not a hash; want sha256: and 64 hex digits.`);
}
