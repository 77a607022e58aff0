// Runs all parts on this machine.
import type { CommandDefinition, World } from '../../flags/command.ts';
import { addControllerFlags } from '../../flags/controller-flags.ts';
import { addServerFlags } from '../../flags/server-flags.ts';
import type { IsolatedNetwork } from '../../up/isolated-network.ts';
import { runServerOnly } from '../../up/run-server-only.ts';
import { addUpFlags, type UpFlags } from '../../up/up-flags.ts';
import { refusedVariable } from '../launch.ts';

export const up: CommandDefinition = {
  configure(command, world) {
    // The terminal shows only what a user must act on.
    const withServer = addServerFlags(command, { bindAddress: '127.0.0.1', logLevel: 'error' });
    addUpFlags(addControllerFlags(withServer)).action(async (flags: UpFlags) => run(flags, world));
  },
};

async function run(flags: UpFlags, world: World): Promise<void> {
  switch (flags.network) {
    case 'none':
      return runServerOnly(flags, world);
    case 'host': {
      const { hostRun, runCluster } = (await import('./network.ts')).network;
      return runCluster(flags, hostRun(flags), world);
    }
    case 'isolated': {
      const network = await tryIsolated(flags, world);
      if ('refused' in network) return runServerOnly(flags, world, network.refused);
      const { isolatedRun, runCluster } = (await import('./network.ts')).network;
      return runCluster(flags, isolatedRun(flags, network), world);
    }
  }
}

/** When the machine does not permit an isolated network, everything else still runs. */
async function tryIsolated(
  flags: UpFlags,
  { env }: World,
): Promise<IsolatedNetwork | { readonly refused: string }> {
  const refused = env[refusedVariable];
  if (refused !== undefined) return { refused };
  try {
    const { makeIsolatedNetwork } = (await import('./network.ts')).network;
    return await makeIsolatedNetwork(flags);
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}
