// The flags by which a machine joins a cluster, under kubeadm's names where it has them.
import { type Command, InvalidArgumentError } from 'commander';
import { splitToken } from '../../kinds/secret/bootstrap-token.ts';
import { UsageError } from '../command.ts';

export type JoinFlags = {
  readonly join?: readonly [string, ...string[]];
  readonly token?: string;
  readonly discoveryTokenCaCertHash?: readonly string[];
  readonly discoveryTokenUnsafeSkipCaVerification?: true;
};

export type JoinWish = {
  /** `https://HOST:PORT`, of servers of one cluster: the first that answers is joined, all are remembered. */
  readonly servers: readonly [string, ...string[]];
  readonly token: string;
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
    .option('--token <token>', 'bootstrap token to join with, of `fairlead token create`', token)
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
export function joinWish(flags: JoinFlags): JoinWish | undefined {
  const { join: servers, token: given, discoveryTokenCaCertHash: pins = [] } = flags;
  if (servers === undefined) {
    if (given === undefined && pins.length === 0) return undefined;
    throw new UsageError('Cannot join: --join with the address of a server is missing.');
  }
  if (given === undefined) {
    throw new UsageError('Cannot join: --token is missing. Make one with `fairlead token create`.');
  }
  if (pins.length === 0 && flags.discoveryTokenUnsafeSkipCaVerification === undefined) {
    throw new UsageError(
      'Cannot join: --discovery-token-ca-cert-hash is missing; `fairlead token create` prints it.',
    );
  }
  return { servers, token: given, pins };
}

function addServer(text: string, before?: JoinWish['servers']): JoinWish['servers'] {
  const server = serverUrl(text);
  return before === undefined ? [server] : [...before, server];
}

export function serverUrl(text: string): string {
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
