// Creates a bootstrap token, and prints the command to join a machine with.

import { randomInt } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ApiCaller } from '../../client/api-call.ts';
import { parseKubeconfig } from '../../client/kubeconfig.ts';
import type { Connection } from '../../client/read-kubeconfig.ts';
import { resourceClient } from '../../client/rest.ts';
import { type ClientFlags, withSession } from '../../flags/client-flags.ts';
import { UsageError, type World } from '../../flags/command.ts';
import { repeated } from '../../flags/parse-flags.ts';
import { duration } from '../../flags/parse-values.ts';
import { isLoopback, parseAddress } from '../../ip/address.ts';
import { publicKeyPin } from '../../join/discover-authority.ts';
import { clusterInfo, clusterInfoKey } from '../../kinds/config-map/cluster-info.ts';
import { configMapDefinition } from '../../kinds/config-map/definition.ts';
import { endpointSliceDefinition } from '../../kinds/endpoint-slice/definition.ts';
import {
  type BootstrapUsage,
  bootstrapTokenSecret,
  bootstrapUsages,
  isBootstrapGroup,
  nodeBootstrappersGroup,
} from '../../kinds/secret/bootstrap-token.ts';
import { secretDefinition } from '../../kinds/secret/definition.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';
import { formatTime } from '../../schema/time.ts';

export type BootstrapFlags = {
  readonly ttl: number;
  readonly usages: readonly BootstrapUsage[];
  readonly groups: readonly string[];
  readonly description?: string;
  readonly server?: readonly string[];
};

const dayMs = 24 * 3600 * 1000;

export function addBootstrapFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--ttl <time>', 'Lifetime of a bootstrap token. 0 never expires')
        .argParser(duration())
        .default(dayMs, '24h'),
    )
    .addOption(
      new Option(
        '--usages <names>',
        'Usages of a bootstrap token: signing, authentication, or both',
      )
        .argParser(usages)
        .default(bootstrapUsages, bootstrapUsages.join(',')),
    )
    .addOption(
      new Option(
        '--groups <names>',
        'Groups of clients that authenticate with the bootstrap token, in addition to system:bootstrappers',
      )
        .argParser(groups)
        .default([nodeBootstrappersGroup], nodeBootstrappersGroup),
    )
    .option('--description <text>', 'Human-readable description of the token')
    .option(
      '--server <url>',
      'URL to join at. May be repeated (default: all running API servers if there are several, otherwise that of the kubeconfig, or the advertised one)',
      repeated,
    );
}

export async function printJoinCommand(
  flags: ClientFlags & BootstrapFlags,
  world: World,
): Promise<void> {
  const command = await withSession(flags, world, async ({ caller, connection }) => {
    const { certificateAuthority: authority } = connection;
    if (authority === undefined) {
      throw new UsageError(
        'Cannot say how to join: the kubeconfig names no certificate authority.',
      );
    }
    const servers = flags.server ?? (await reachableServers(caller, connection));
    const token = await createToken(caller, flags, world.now());
    const joins = servers.map((server) => `--join ${server}`).join(' ');
    // The token goes through standard input: other users can read command lines, also behind sudo.
    return `echo ${token} | fairlead node ${joins} --token-file - --discovery-token-ca-cert-hash sha256:${publicKeyPin(authority)}`;
  });
  world.write(`${command}\n`);
}

async function createToken(caller: ApiCaller, flags: BootstrapFlags, now: number): Promise<string> {
  const id = randomText(6);
  const secret = randomText(16);
  const { ttl, usages: wanted, groups: extra, description } = flags;
  await resourceClient(caller, secretDefinition).create(
    bootstrapTokenSecret({
      ...{ id, secret, usages: wanted, groups: extra },
      ...(ttl === 0 ? {} : { expiration: formatTime(now + ttl) }),
      ...(description === undefined ? {} : { description }),
    }),
  );
  return `${id}.${secret}`;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

function randomText(length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('');
}

/** With several API servers, nodes should know all of them. */
async function reachableServers(
  caller: ApiCaller,
  connection: Connection,
): Promise<readonly string[]> {
  const live = await liveServers(caller);
  return live.length > 1 ? live : [await reachableServer(caller, connection)];
}

async function liveServers(caller: ApiCaller): Promise<readonly string[]> {
  const { items } = await resourceClient(caller, endpointSliceDefinition).list({
    namespace: 'default',
    labelSelector: `${serviceNameLabel}=kubernetes`,
  });
  return items.flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).flatMap(({ addresses }) =>
      (addresses ?? [])
        .slice(0, 1)
        .flatMap((ip) =>
          (ports ?? []).map(({ port }) => `https://${ip.includes(':') ? `[${ip}]` : ip}:${port}`),
        ),
    ),
  );
}

/** The kubeconfig may name a loopback address, which other machines cannot use. */
async function reachableServer(caller: ApiCaller, { server }: Connection): Promise<string> {
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  const address = parseAddress(host);
  const isLocal = host === 'localhost' || (address !== undefined && isLoopback(address));
  if (!isLocal) return server;
  const { data = {} } = await resourceClient(caller, configMapDefinition).get(clusterInfo);
  const [cluster] = parseKubeconfig(data[clusterInfoKey] ?? '').clusters.values();
  const advertised = cluster?.server;
  return typeof advertised === 'string' ? advertised : server;
}

function usages(text: string): readonly BootstrapUsage[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !bootstrapUsages.some((usage) => usage === name));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `"${unknown}" is not a usage; there are ${bootstrapUsages.join(' and ')}.`,
    );
  }
  return bootstrapUsages.filter((usage) => names.includes(usage));
}

function groups(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !isBootstrapGroup(name));
  if (wrong === undefined) return names;
  throw new InvalidArgumentError(
    `"${wrong}" is not such a group; it must begin with system:bootstrappers:.`,
  );
}
