// Probes whether containers can have overlays of layers on this machine: not in every kernel, and not above every file system.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { LayerForm } from '../../../images/image-store.ts';
import type { Log } from '../../../observe/log.ts';
import { tryImageSteps } from '../sandbox/image-steps.ts';
import { spawnStarter } from '../sandbox/spawn-starter.ts';
import type { AgentUser } from '../sandbox/user-steps.ts';
import { makeOverlay } from './apply-image-files.ts';

export type OverlayProbe = (form: LayerForm) => Promise<boolean>;

export type OverlayProbeOptions = {
  /** On the file system where containers write; made and removed again. */
  readonly directory: string;
  readonly agent?: AgentUser;
  readonly log: Log;
};

/** Probes each form once. */
export function createOverlayProbe(options: OverlayProbeOptions): OverlayProbe {
  const probed = new Map<LayerForm, Promise<boolean>>();
  return (form) => {
    const known = probed.get(form) ?? probe(form, options);
    probed.set(form, known);
    return known;
  };
}

async function probe(
  form: LayerForm,
  { directory, agent, log }: OverlayProbeOptions,
): Promise<boolean> {
  const failed = (reason: string): false => {
    log.warn('Overlays do not work here, each container gets a copy of its image', { reason });
    return false;
  };
  if (form === 'files') return failed('the file system of the images has no extended attributes');
  const own = join(directory, form);
  rmSync(own, { recursive: true, force: true });
  for (const name of ['layer', 'root']) mkdirSync(join(own, name), { recursive: true });
  try {
    const unpacked = { form, directories: [join(own, 'layer')] };
    const files = makeOverlay(unpacked, { directory: own, isWritable: true });
    const steps = [
      ...tryImageSteps(files, join(own, 'root'), agent),
      { call: 'exit_group', args: [0] } as const,
    ];
    const failure = await spawnStarter(steps, ['ignore', 'ignore', 'ignore']).problem;
    return failure === undefined ? true : failed(`cannot ${failure.what}: ${failure.code}`);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
