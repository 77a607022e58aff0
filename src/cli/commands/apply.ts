// Applies manifests by server-side apply.

import { discover } from '../../client/discovery.ts';
import { resourceClient } from '../../client/rest.ts';
import {
  addClientFlags,
  type ClientFlags,
  type Session,
  withSession,
} from '../../flags/client-flags.ts';
import { type CommandDefinition, FailedError, type World } from '../../flags/command.ts';
import { isApiError, isConflict, isNotFound } from '../../meta/api-error.ts';
import { cliManager } from '../../meta/field-managers.ts';
import type { KubeObject } from '../../meta/object.ts';
import { shortKind } from '../manifests/find-resource.ts';
import { type ManifestTarget, manifestTarget } from '../manifests/manifest-targets.ts';
import { readManifests } from '../manifests/read-manifests.ts';
import { apiErrorText } from '../output/api-error-text.ts';

type ApplyFlags = ClientFlags & {
  readonly filename: readonly string[];
  readonly forceConflicts?: boolean;
};

const fieldManager = cliManager;

export const apply: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .requiredOption(
        '-f, --filename <file...>',
        'Files or directories with manifests, or "-" for standard input',
      )
      .option('--force-conflicts', 'Takes over fields that other managers own')
      .action(async (flags: ApplyFlags) => {
        await withSession(flags, world, (session) => run(session, flags, world));
      });
  },
};

async function run(session: Session, flags: ApplyFlags, world: World): Promise<void> {
  const manifests = await readManifests(flags.filename, world.cwd());
  if (manifests.length === 0) throw new FailedError('error: no objects passed to apply');
  const all = await discover(session.caller);
  let failed = false;
  for (const manifest of manifests) {
    try {
      const target = manifestTarget(manifest, all, session);
      const { name, outcome } = await applyOne(session, target, flags.forceConflicts === true);
      world.write(`${shortKind(target.resource)}/${name} ${outcome}\n`);
    } catch (error) {
      world.writeError(`${failureText(error, manifest.source)}\n`);
      failed = true;
    }
  }
  if (failed) throw new FailedError();
}

type Applied = { readonly name: string; readonly outcome: 'created' | 'configured' | 'unchanged' };

async function applyOne(
  session: Session,
  target: ManifestTarget,
  force: boolean,
): Promise<Applied> {
  const { resource, object } = target;
  const client = resourceClient(session.caller, resource);
  const { name, namespace, generateName } = object.metadata;
  if (name === undefined) {
    if (generateName === undefined) throw new FailedError('error: resource name may not be empty');
    const { metadata } = await client.create(object, { fieldManager });
    return { name: metadata.name ?? '', outcome: 'created' };
  }
  const key = { name, ...(namespace === undefined ? {} : { namespace }) };
  const before = await client.get(key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const after = await client.patch(key, object, { type: 'apply', fieldManager, force });
  return { name, outcome: outcomeOf(before, after) };
}

function outcomeOf(before: KubeObject | undefined, after: KubeObject): Applied['outcome'] {
  if (before === undefined) return 'created';
  return before.metadata.resourceVersion === after.metadata.resourceVersion
    ? 'unchanged'
    : 'configured';
}

function failureText(error: unknown, source: string): string {
  if (error instanceof FailedError) return error.message;
  if (!isApiError(error)) throw error;
  const text = apiErrorText(error, `error when applying "${source}"`);
  const isOwnership = isConflict(error) && (error.status.details?.causes ?? []).length > 0;
  return isOwnership
    ? `${text}\nRun again with --force-conflicts to take these fields over.`
    : text;
}
