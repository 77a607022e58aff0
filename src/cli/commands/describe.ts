// Describes objects, with their events.

import { type DiscoveredResource, discover } from '../../client/discovery.ts';
import { resourceClient } from '../../client/rest.ts';
import {
  addClientFlags,
  type ClientFlags,
  type Session,
  withSession,
} from '../../flags/client-flags.ts';
import type { CommandDefinition, World } from '../../flags/command.ts';
import type { CronJob } from '../../kinds/cron-job/types.ts';
import { endpointSliceDefinition } from '../../kinds/endpoint-slice/definition.ts';
import { eventDefinition } from '../../kinds/event/definition.ts';
import type { Event } from '../../kinds/event/types.ts';
import type { Job } from '../../kinds/job/types.ts';
import type { PodDisruptionBudget } from '../../kinds/pod-disruption-budget/types.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { groupResource, type KubeObject } from '../../meta/object.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';
import { describeBudget } from '../describe/describe-budget.ts';
import { describeCronJob, describeJob } from '../describe/describe-job.ts';
import { describeObject } from '../describe/describe-object.ts';
import { describeService } from '../describe/describe-service.ts';
import { eventsField, type Field, renderFields } from '../describe/describe-text.ts';
import { parseTargets, type Target } from '../manifests/find-resource.ts';

type DescribeFlags = ClientFlags & { readonly selector?: string };

export const describe: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .argument('<resource...>', 'svc, svc web, or svc/web')
      .option('-l, --selector <labels>', 'Label selector')
      .action(async (words: readonly string[], flags: DescribeFlags) => {
        await withSession(flags, world, (session) => run({ session, flags, world }, words));
      });
  },
};

type Parts = { readonly session: Session; readonly flags: DescribeFlags; readonly world: World };

async function run(parts: Parts, words: readonly string[]): Promise<void> {
  const { session, world } = parts;
  const targets = parseTargets(await discover(session.caller), words);
  let isFirst = true;
  for (const target of targets) {
    for (const object of await read(parts, target)) {
      const fields = await describeOne(session, target.resource, object);
      const events = await readEvents(session, object);
      if (!isFirst) world.write('\n\n');
      world.write(renderFields([...fields, eventsField(events, world.now())]));
      isFirst = false;
    }
  }
  if (isFirst) world.writeError(`No resources found in ${session.namespace} namespace.\n`);
}

async function read(
  { session, flags }: Parts,
  { resource, name }: Target,
): Promise<readonly KubeObject[]> {
  const client = resourceClient(session.caller, resource);
  const scope = resource.namespaced ? { namespace: session.namespace } : {};
  if (name !== undefined) return [await client.get({ ...scope, name })];
  const selector = flags.selector === undefined ? {} : { labelSelector: flags.selector };
  return (await client.list({ ...scope, ...selector })).items;
}

type Describer = (object: KubeObject) => readonly Field[];

/** Kinds that are described out of the object alone. */
const describers: ReadonlyMap<string, Describer> = new Map<string, Describer>([
  ['jobs.batch', (object) => describeJob(object as Job)],
  ['cronjobs.batch', (object) => describeCronJob(object as CronJob)],
  ['poddisruptionbudgets.policy', (object) => describeBudget(object as PodDisruptionBudget)],
]);

async function describeOne(
  session: Session,
  resource: DiscoveredResource,
  object: KubeObject,
): Promise<readonly Field[]> {
  const special = describers.get(groupResource(resource.group, resource.plural));
  if (special !== undefined) return special(object);
  if (resource.group !== '' || resource.kind !== 'Service') return describeObject(object);
  const { name = '', namespace = '' } = object.metadata;
  // Read again as a typed Service.
  const service = await resourceClient(session.caller, serviceDefinition).get({ name, namespace });
  const { items } = await resourceClient(session.caller, endpointSliceDefinition).list({
    namespace,
    labelSelector: `${serviceNameLabel}=${name}`,
  });
  return describeService(service, items);
}

async function readEvents(
  session: Session,
  { kind, metadata }: KubeObject,
): Promise<readonly Event[]> {
  const { name, namespace = '', uid } = metadata;
  const about = {
    'involvedObject.name': name,
    'involvedObject.namespace': namespace,
    'involvedObject.kind': kind,
    'involvedObject.uid': uid,
  };
  const fieldSelector = Object.entries(about)
    .map(([field, value]) => `${field}=${value ?? ''}`)
    .join(',');
  const { items } = await resourceClient(session.caller, eventDefinition).list({
    namespace: namespace || 'default',
    fieldSelector,
  });
  return items;
}
