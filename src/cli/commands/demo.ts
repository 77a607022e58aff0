// Demonstrates a Service: three pods behind one name, and which of them answers each request.

import { type ApiCaller, openCall } from '../../client/api-call.ts';
import { discover } from '../../client/discovery.ts';
import { startInformer } from '../../client/informer.ts';
import { resourceClient } from '../../client/rest.ts';
import {
  addClientFlags,
  type ClientFlags,
  type Session,
  withSession,
} from '../../flags/client-flags.ts';
import { type CommandDefinition, FailedError, type World } from '../../flags/command.ts';
import { wholeNumber } from '../../flags/parse-values.ts';
import { systemClock } from '../../host/clock.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { isNotFound } from '../../meta/api-error.ts';
import { cliManager } from '../../meta/field-managers.ts';
import { silentLog } from '../../observe/log.ts';
import { demoClient, demoName, demoObjects, demoSelector } from '../../up/demo-objects.ts';
import { createProgress, programName } from '../../up/terminal.ts';
import { manifestTarget } from '../manifests/manifest-targets.ts';

type Flags = ClientFlags & { readonly answers: number; readonly delete?: true };

export const demo: CommandDefinition = {
  configure(command, world) {
    addClientFlags(command)
      .option(
        '--answers <count>',
        'Number of responses to show',
        wholeNumber({ min: 1, max: 1e6 }),
        12,
      )
      .option('--delete', 'Deletes the objects of the demo')
      .action(async (flags: Flags) => {
        await withSession(flags, world, (session) => run(session, flags, world));
      });
  },
};

async function run(session: Session, flags: Flags, world: World): Promise<void> {
  const { caller, namespace } = session;
  const objects = demoObjects(namespace);
  if (flags.delete !== true) await refuseWithoutNodes(caller);
  const all = await discover(caller);
  for (const object of objects) {
    const target = manifestTarget({ object, source: 'demo' }, all, session);
    const client = resourceClient(caller, target.resource);
    const location = { namespace, name: object.metadata.name ?? '' };
    if (flags.delete === true) {
      await client.delete(location).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    } else
      await client.patch(location, object, {
        type: 'apply',
        fieldManager: cliManager,
        force: true,
      });
  }
  if (flags.delete === true) return world.write('The demo is removed.\n');
  world.write(
    `Three pods "${demoName}", a Service "${demoName}" before them, and a pod "${demoClient}" that asks http://${demoName} twice a second.\n`,
  );
  const progress = createProgress(world);
  await progress('waiting for the pods', readyPods(session, world));
  if (world.interrupted.aborted) return;
  await showAnswers(session, flags.answers, world);
}

/** Without a node the pods would never run, and would be left behind. */
async function refuseWithoutNodes(caller: ApiCaller): Promise<void> {
  const { items } = await resourceClient(caller, nodeDefinition).list({});
  if (items.length > 0) return;
  throw new FailedError(
    'Cannot show the demo: there is no node to run its pods. `fairlead up` without `--network none` has one.',
  );
}

const readyMs = 60_000;

async function readyPods({ caller, namespace }: Session, world: World): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, world.interrupted]);
  const pods = startInformer(
    {
      ...{ caller, namespace, type: podDefinition, clock: systemClock, log: silentLog },
      labelSelector: demoSelector,
    },
    signal,
  );
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = systemClock.after(readyMs, () =>
        reject(
          new FailedError(`The pods are not ready yet: see \`kubectl get pods\`. Are there nodes?`),
        ),
      );
      const end = (): void => {
        cancel();
        resolve();
      };
      const readAnswers = (): void => {
        const ready = [...pods.store.values()].filter((pod: Pod) => isPodReady(pod));
        if (ready.length >= demoPods) end();
      };
      signal.addEventListener('abort', end, { once: true });
      pods.onChange({ add: readAnswers, update: readAnswers });
    });
  } finally {
    ending.abort();
    await pods.ended;
  }
}

/** Three servers and one client. */
const demoPods = 4;

async function showAnswers(
  { caller, namespace }: Session,
  most: number,
  world: World,
): Promise<void> {
  const counts = new Map<string, number>();
  for await (const line of followLog(caller, namespace, world.interrupted)) {
    const who = /answered: (\S+) at /.exec(line)?.[1];
    // The proxy may not have written the rules of the Service yet.
    if (who === undefined && counts.size === 0) continue;
    world.write(`  ${line}\n`);
    if (who === undefined) continue;
    counts.set(who, (counts.get(who) ?? 0) + 1);
    if ([...counts.values()].reduce((sum, count) => sum + count, 0) >= most) break;
  }
  const program = programName(world);
  const shares = [...counts].map(([who, count]) => `${who} ${count}`).join(', ');
  world.write(
    `Answers: ${shares}.\nIt goes on by itself: try \`kubectl scale deployment ${demoName} --replicas 5\`, then`,
  );
  world.write(` \`${program} demo\` again. \`${program} demo --delete\` removes it.\n`);
}

async function* followLog(
  caller: ApiCaller,
  namespace: string,
  interrupted: AbortSignal,
): AsyncIterable<string> {
  const ending = new AbortController();
  const path = `/api/v1/namespaces/${namespace}/pods/${demoClient}/log?follow=true&tailLines=0`;
  const signal = AbortSignal.any([ending.signal, interrupted]);
  const { body } = await openCall(caller, { method: 'GET', path, signal, accept: '*/*' });
  try {
    yield* linesOf(body);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    ending.abort();
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
