// The images of all nodes of `up`: one store in its data directory, and the pulls of the nodes.
import { join, resolve } from 'node:path';
import type { World } from '../flags/command.ts';
import { readDockerConfig, readRegistrySettings } from '../flags/registry-flags.ts';
import { openImageStore } from '../images/open-image-store.ts';
import type { PullState } from '../node/images/run-pulls.ts';
import type { Log } from '../observe/log.ts';
import { createPullServer, type PullServer } from './serve-pulls.ts';
import type { UpFlags } from './up-flags.ts';

export type ClusterImages = {
  readonly directory: string;
  readonly pulls: PullServer;
  /** The listener gets the images that are being pulled, now and then, and in the end. */
  readonly onPulls: (listener: (states: readonly PullState[]) => void) => void;
  readonly close: () => Promise<void>;
};

/** Progress is for people, and every change is written to a file. */
const progressMs = 500;

export async function startImages(
  flags: Pick<UpFlags, 'dataDir' | 'registries'>,
  world: World,
  log: Log,
): Promise<ClusterImages> {
  const registries = readRegistrySettings(flags, world.cwd());
  const directory = join(resolve(world.cwd(), flags.dataDir), 'images');
  const store = await openImageStore({
    ...{ directory, env: world.env, log, registries },
  });
  let report = (_: readonly PullState[]): void => {};
  let timer: NodeJS.Timeout | undefined;
  const changed = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      report(pulls.states());
    }, progressMs).unref();
  };
  const pulls = createPullServer({
    ...{ store, changed },
    keyring: () => readDockerConfig(world.env, log),
  });
  return {
    directory,
    pulls,
    onPulls(listener) {
      report = listener;
    },
    async close() {
      clearTimeout(timer);
      pulls.stop();
      await store.close();
    },
  };
}
