// Prints the version.
import type { CommandDefinition } from '../../flags/command.ts';
import { packageVersion } from '../../flags/package-version.ts';

export const versionText = `fairlead ${packageVersion} (Kubernetes 1.36)`;

export const version: CommandDefinition = {
  configure(command, world) {
    command.action(() => world.write(`${versionText}\n`));
  },
};
