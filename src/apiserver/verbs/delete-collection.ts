// DELETE of all selected objects.
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { isNotFound } from '../../meta/api-error.ts';
import type { Cached } from '../cache/resource-cache.ts';
import { encodeListSteps } from '../encode/list.ts';
import { negotiate } from '../encode/negotiate.ts';
import { runWhileDue } from '../limits/pace.ts';
import type { ApiResponse } from '../message.ts';
import { header } from '../message.ts';
import { deleteObject } from '../objects/delete-object.ts';
import { parseListOptions } from '../request/list-options.ts';
import { admitDelete, type Call } from './call.ts';
import { parseDeleteOptions, warnOfDefaultPolicy } from './delete-options.ts';
import { readPage } from './read-page.ts';

/** Concurrent deletes: they share commits of the store, and leave room for other requests. */
const maxInFlight = 32;

export async function removeCollection(call: Call): Promise<ApiResponse> {
  const { context, request, resource, info } = call;
  const { definition } = resource;
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'list' });
  const selection = parseListOptions(info, request.query, { definition, watch: false });
  const { options, dryRun } = await parseDeleteOptions(request);
  warnOfDefaultPolicy(call, options);
  const page = await readPage(call, selection);
  const waiting = page.items.values();
  const removeSome = async (): Promise<void> => {
    for (const next of waiting) {
      await removeOne(next);
      // A store that answers at once would block the event loop until all are deleted.
      const due = yieldWhenDue();
      if (due !== undefined) await due;
    }
  };
  const removeOne = async ({ object }: Cached): Promise<void> => {
    const { name = '', namespace = '' } = object.metadata;
    try {
      await deleteObject(context, {
        resource,
        namespace,
        name,
        options,
        dryRun,
        admit: () => admitDelete(call, { name, namespace, dryRun }),
        now: context.now(),
        user: call.user,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  await Promise.all(Array.from({ length: maxInFlight }, removeSome));
  const { contentType, ...encoded } = await runWhileDue(
    encodeListSteps(representation, definition, { ...page, now: context.now() }),
  );
  return { status: 200, headers: { 'content-type': contentType }, ...encoded };
}
