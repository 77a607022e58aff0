// Runs the API server alone.

import type { CommandDefinition, World } from '../../flags/command.ts';
import { addServerFlags, type ServerFlags, startFromFlags } from '../../flags/server-flags.ts';
import { aborted } from '../../host/clock.ts';

export const apiserver: CommandDefinition = {
  configure(command, world) {
    addServerFlags(command, { bindAddress: '0.0.0.0', logLevel: 'info' }).action(
      async (flags: ServerFlags) => run(flags, world),
    );
  },
};

async function run(flags: ServerFlags, world: World): Promise<void> {
  const { url, kubeconfig, gone, stop } = await startFromFlags(flags, world);
  world.write(`API server at ${url}, kubeconfig in ${kubeconfig}\n`);
  try {
    await Promise.race([aborted(world.interrupted), gone]);
  } finally {
    await stop();
  }
}
