// `fairlead doctor -f`: manifests, with no cluster at all.

import { diagnoseManifests, type ManifestDiagnosis } from '../../doctor/diagnose-manifests.ts';
import { similarWord } from '../../doctor/edit-distance.ts';
import { UsageError, type World } from '../../flags/command.ts';
import { printable } from '../../meta/printable.ts';
import { readManifestTree } from '../manifests/read-manifest-tree.ts';

export type ManifestsTarget = {
  readonly filename: readonly string[];
  /** Of objects that name none. */
  readonly namespace: string;
  readonly service?: string;
};

/** More names say nothing more. */
const maxKinds = 20;

export async function runOnManifests(
  { filename, namespace, service }: ManifestsTarget,
  world: World,
): Promise<ManifestDiagnosis> {
  const { manifests, problems, notes } = await readManifestTree({
    paths: filename,
    cwd: world.cwd(),
  });
  const found = diagnoseManifests({
    ...{ manifests, problems, namespace, nowMs: world.now() },
    ...(service === undefined ? {} : { service }),
  });
  const { index, ignoredKinds } = found;
  if (service !== undefined && index.service(namespace, service) === undefined) {
    const names = index.servicesIn(namespace).map(({ metadata }) => metadata.name ?? '');
    const similar = similarWord(service, names);
    const hint = similar === undefined ? '' : `; did you mean "${similar}"?`;
    throw new UsageError(
      `services "${service}" not found in namespace "${namespace}" of the manifests${hint}`,
    );
  }
  for (const note of notes) world.writeError(`Left out: ${printable(note)}\n`);
  if (ignoredKinds.length > 0) {
    const shown = ignoredKinds.slice(0, maxKinds).map((kind) => kind.slice(0, maxKindLength));
    const more = ignoredKinds.length > maxKinds ? ' and others' : '';
    world.writeError(`${printable(`Kinds that were not read: ${shown.join(', ')}${more}`)}\n`);
  }
  return found;
}

const maxKindLength = 63;
