// Deletes objects by name, by labels or from manifests, and waits until they are deleted.
import { InvalidArgumentError, Option } from 'commander';
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import { type DeleteOptions, resourceClient } from '../../client/rest.ts';
import { watchResource } from '../../client/watch.ts';
import {
  addClientFlags,
  type ClientFlags,
  type Session,
  withSession,
} from '../../flags/client-flags.ts';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { isApiError, isNotFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { parseTargets, shortKind } from '../manifests/find-resource.ts';
import { manifestTarget } from '../manifests/manifest-targets.ts';
import { readManifests } from '../manifests/read-manifests.ts';
import { apiErrorText } from '../output/api-error-text.ts';

type DeleteFlags = ClientFlags & {
  readonly filename?: readonly string[];
  readonly selector?: string;
  readonly all?: boolean;
  readonly cascade: 'background' | 'foreground' | 'orphan';
  readonly gracePeriod?: number;
  readonly ignoreNotFound?: boolean;
  readonly wait: boolean;
};

export const remove: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .argument('[resource...]', 'svc web api, or svc/web')
      .option(
        '-f, --filename <file...>',
        'Files or directories with manifests of the objects to delete, or "-" for standard input',
      )
      .option('-l, --selector <labels>', 'Label selector of the objects to delete')
      .option('--all', 'Deletes all objects of the resource in the namespace')
      .addOption(
        new Option('--cascade <how>', 'How dependents are deleted')
          .choices(['background', 'foreground', 'orphan'])
          .default('background'),
      )
      .option(
        '--grace-period <seconds>',
        'Seconds that the object gets to terminate gracefully (default: that of the object)',
        seconds,
      )
      .option('--ignore-not-found', 'Treats objects that do not exist as deleted')
      .option('--no-wait', 'Does not wait until the objects are deleted')
      .action(async (words: readonly string[], flags: DeleteFlags) => {
        await withSession(flags, world, (session) => run({ session, flags, world }, words));
      });
  },
};

function seconds(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`"${text}" is not a number of seconds.`);
}

type Parts = { readonly session: Session; readonly flags: DeleteFlags; readonly world: World };
type DeletionTarget = {
  readonly resource: DiscoveredResource;
  readonly name: string;
  readonly namespace?: string;
};
type Deleted = DeletionTarget & { readonly uid: string };

async function run(parts: Parts, words: readonly string[]): Promise<void> {
  const { flags, world } = parts;
  const victims =
    flags.filename === undefined
      ? await namedDeletionTargets(parts, words)
      : await manifestDeletionTargets(parts);
  if (victims.length === 0) return world.writeError('No resources found\n');
  const deleted: Deleted[] = [];
  let failed = false;
  for (const victim of victims) {
    try {
      const uid = await deleteOne(parts, victim);
      if (uid !== undefined) deleted.push({ ...victim, uid });
    } catch (error) {
      if (!isApiError(error)) throw error;
      world.writeError(`${apiErrorText(error)}\n`);
      failed = true;
    }
  }
  if (flags.wait) for (const victim of deleted) await waitForDeletion(parts, victim);
  if (failed) throw new FailedError();
}

async function namedDeletionTargets(
  { session, flags }: Parts,
  words: readonly string[],
): Promise<readonly DeletionTarget[]> {
  const targets = words.length === 0 ? [] : parseTargets(await discover(session.caller), words);
  const victims: DeletionTarget[] = [];
  for (const { resource, name } of targets) {
    const scope = resource.namespaced ? { namespace: session.namespace } : {};
    if (name !== undefined) victims.push({ resource, name, ...scope });
    else if (flags.all === true || flags.selector !== undefined) {
      const selector = flags.selector === undefined ? {} : { labelSelector: flags.selector };
      const { items } = await resourceClient(session.caller, resource).list({
        ...scope,
        ...selector,
      });
      victims.push(
        ...items.map(({ metadata }) => ({ resource, name: metadata.name ?? '', ...scope })),
      );
    } else {
      throw new UsageError(
        'resource(s) were provided, but no name was specified; name them, or use -l or --all',
      );
    }
  }
  if (targets.length === 0)
    throw new UsageError('say what to delete: a resource and names, or -f FILE');
  return victims;
}

async function manifestDeletionTargets({
  session,
  flags,
  world,
}: Parts): Promise<readonly DeletionTarget[]> {
  const manifests = await readManifests(flags.filename ?? [], world.cwd());
  const all = await discover(session.caller);
  return manifests.map((manifest) => {
    const { resource, object } = manifestTarget(manifest, all, session);
    const { name = '', namespace } = object.metadata;
    return { resource, name, ...(namespace === undefined ? {} : { namespace }) };
  });
}

const policies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const;

/** Returns the UID of the deleted object, so that a successor of the same name is not waited for. */
async function deleteOne(
  { session, flags, world }: Parts,
  victim: DeletionTarget,
): Promise<string | undefined> {
  const { resource, ...name } = victim;
  const client = resourceClient(session.caller, resource);
  const options: DeleteOptions = {
    propagationPolicy: policies[flags.cascade],
    ...(flags.gracePeriod === undefined ? {} : { gracePeriodSeconds: flags.gracePeriod }),
  };
  try {
    const { metadata } = await client.get(name);
    await client.delete(name, options);
    world.write(`${deletedText(victim)}\n`);
    return metadata.uid;
  } catch (error) {
    if (isNotFound(error) && flags.ignoreNotFound === true) return undefined;
    throw error;
  }
}

function deletedText({ resource, name, namespace }: DeletionTarget): string {
  const where = namespace === undefined ? '' : ` from ${namespace} namespace`;
  return `${shortKind(resource)} "${name}" deleted${where}`;
}

async function waitForDeletion(
  { session, world }: Parts,
  { resource, name, namespace, uid }: Deleted,
): Promise<void> {
  const scope = namespace === undefined ? {} : { namespace };
  const client = resourceClient<KubeObject>(session.caller, resource);
  const fieldSelector = `metadata.name=${name}`;
  while (!world.interrupted.aborted) {
    const { items, resourceVersion } = await client.list({ ...scope, fieldSelector });
    if (!items.some(({ metadata }) => metadata.uid === uid)) return;
    const stop = new AbortController();
    const signal = AbortSignal.any([world.interrupted, stop.signal]);
    for await (const event of watchResource(session.caller, resource, {
      ...scope,
      fieldSelector,
      resourceVersion,
      signal,
    })) {
      // Stop the watch, so that the loop lists again and decides.
      if (event.type === 'DELETED') stop.abort();
    }
  }
}
