// Shows objects, as the server's tables or in full.
import { type Command, Option } from 'commander';
import { callApi, openCall } from '../../client/api-call.ts';
import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import { readJsonLines } from '../../client/json-lines.ts';
import { queryText, resourcePath } from '../../client/resource.ts';
import { resourceClient } from '../../client/rest.ts';
import { watchPath } from '../../client/watch.ts';
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
import { ApiError, isApiError, type Status } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { parseTargets, shortKind, type Target } from '../manifests/find-resource.ts';
import { apiErrorText } from '../output/api-error-text.ts';
import { listOf, objectText, type ServerTable, withoutManagedFields } from '../output/print.ts';
import { createTableOutput } from '../output/table-output.ts';

type GetFlags = ClientFlags & {
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly output: 'table' | 'wide' | 'json' | 'yaml' | 'name';
  readonly watch?: boolean;
  readonly headers: boolean;
  readonly showLabels?: boolean;
};

export const get: CommandDefinition = {
  configure(command, world) {
    addGetFlags(addClientFlags(command))
      .argument('<resource...>', 'services, svc, svc/web, svc,endpointslices or all; then names')
      .action(async (words: readonly string[], flags: GetFlags) => {
        await withSession(flags, world, (session) => run({ session, flags, world }, words));
      });
  },
};

function addGetFlags(command: Command): Command {
  return command
    .option('-A, --all-namespaces', 'Shows objects of all namespaces')
    .option('-l, --selector <labels>', 'Label selector, such as app=web')
    .option('--field-selector <fields>', 'Field selector, such as metadata.name=web')
    .addOption(
      new Option('-o, --output <format>', 'Output format')
        .choices(['table', 'wide', 'json', 'yaml', 'name'])
        .default('table'),
    )
    .option('-w, --watch', 'Watches for changes after listing the objects')
    .option('--no-headers', 'Omits the header line')
    .option('--show-labels', 'Adds a column with the labels');
}

type Parts = { readonly session: Session; readonly flags: GetFlags; readonly world: World };

/** The listed objects of one resource, or one object; a watch resumes from `version`. */
type View = {
  readonly accept?: string;
  readonly show: (target: Target) => Promise<{ readonly version: string }>;
  readonly showChange: (resource: DiscoveredResource, value: unknown) => void;
  readonly end: () => void;
};

async function run(parts: Parts, words: readonly string[]): Promise<void> {
  const { session, flags, world } = parts;
  const targets = parseTargets(await discover(session.caller), words);
  const isTable = flags.output === 'table' || flags.output === 'wide';
  const mixed = new Set(targets.map(({ resource }) => resource)).size > 1;
  const view = isTable ? tableView(parts, mixed) : objectView(parts);
  let version = '';
  let failed = false;
  for (const target of targets) {
    try {
      ({ version } = await view.show(target));
    } catch (error) {
      if (!isApiError(error) || targets.length === 1) throw error;
      world.writeError(`${apiErrorText(error)}\n`);
      failed = true;
    }
  }
  view.end();
  if (failed) throw new FailedError();
  const [target, ...others] = targets;
  if (flags.watch !== true || target === undefined) return;
  if (others.length > 0)
    throw new UsageError('you may only specify a single resource type with -w');
  await watch(parts, view, { target, version });
}

const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

function tableView(parts: Parts, mixed: boolean): View {
  const { session, flags, world } = parts;
  const output = createTableOutput({
    write: world.write,
    wide: flags.output === 'wide',
    withHeaders: flags.headers,
    withLabels: flags.showLabels === true,
    withNamespace: flags.allNamespaces === true,
    mixed,
  });
  const seen: DiscoveredResource[] = [];
  return {
    accept: tableAccept,
    async show(target) {
      seen.push(target.resource);
      const { labelSelector, fieldSelector, ...location } = scopeOf(parts, target);
      const path =
        resourcePath(target.resource, location) + queryText({ labelSelector, fieldSelector });
      const table = (await callApi(session.caller, {
        method: 'GET',
        path,
        accept: tableAccept,
      })) as ServerTable;
      output.print(target.resource, table);
      return { version: table.metadata?.resourceVersion ?? '' };
    },
    showChange: (resource, value) => output.print(resource, value as ServerTable),
    end() {
      if (!output.isEmpty() || flags.watch === true) return;
      const isEverywhere =
        flags.allNamespaces === true || !seen.some(({ namespaced }) => namespaced);
      const where = isEverywhere ? '' : ` in ${session.namespace} namespace.`;
      world.writeError(`No resources found${where}\n`);
    },
  };
}

function objectView(parts: Parts): View {
  const { session, flags, world } = parts;
  const objects: KubeObject[] = [];
  const print = (value: unknown): void =>
    world.write(objectText(value, flags.output === 'yaml' ? 'yaml' : 'json'));
  const showName = (resource: DiscoveredResource, { metadata }: KubeObject): void =>
    world.write(`${shortKind(resource)}/${metadata.name}\n`);
  let isOne = false;
  return {
    async show(target) {
      const { resource, name } = target;
      const client = resourceClient(session.caller, resource);
      const scope = scopeOf(parts, target);
      const { items, resourceVersion } =
        name === undefined ? await client.list(scope) : only(await client.get({ ...scope, name }));
      isOne = name !== undefined;
      if (flags.output === 'name') for (const item of items) showName(resource, item);
      else objects.push(...items.map(withoutManagedFields));
      return { version: resourceVersion };
    },
    showChange(resource, value) {
      const object = value as KubeObject;
      if (flags.output === 'name') showName(resource, object);
      else print(withoutManagedFields(object));
    },
    end() {
      if (flags.output === 'name') return;
      print(isOne && objects.length === 1 ? objects[0] : listOf(objects));
    },
  };
}

const only = (object: KubeObject) => ({
  items: [object],
  resourceVersion: object.metadata.resourceVersion ?? '',
});

type Scope = {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly name?: string;
};

function scopeOf({ session, flags }: Parts, { resource, name }: Target): Scope {
  if (name !== undefined && flags.allNamespaces === true) {
    throw new UsageError('a resource cannot be retrieved by name across all namespaces');
  }
  if (name !== undefined && (flags.selector !== undefined || flags.fieldSelector !== undefined)) {
    throw new UsageError('name cannot be provided when a selector is specified');
  }
  return {
    ...(resource.namespaced && flags.allNamespaces !== true
      ? { namespace: session.namespace }
      : {}),
    ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
    ...(flags.fieldSelector === undefined ? {} : { fieldSelector: flags.fieldSelector }),
    ...(name === undefined ? {} : { name }),
  };
}

/** Watches from the listed version until the server ends the watch or the user interrupts. */
async function watch(
  parts: Parts,
  view: View,
  { target, version }: { readonly target: Target; readonly version: string },
): Promise<void> {
  const signal = parts.world.interrupted;
  const { name, ...scope } = scopeOf(parts, target);
  const path = watchPath(target.resource, {
    ...scope,
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
    ...(version === '' ? {} : { resourceVersion: version }),
  });
  const accept = view.accept === undefined ? {} : { accept: view.accept };
  try {
    const { body } = await openCall(parts.session.caller, {
      method: 'GET',
      path,
      signal,
      ...accept,
    });
    for await (const line of readJsonLines(body)) {
      const { type, object } = line as { readonly type: string; readonly object: unknown };
      if (type === 'ERROR') throw new ApiError(object as Status);
      if (type !== 'BOOKMARK') view.showChange(target.resource, object);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
