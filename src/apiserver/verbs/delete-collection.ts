// DELETE of everything that the selectors pick.
import { isNotFound } from '../../meta/api-error.ts';
import { encodeList } from '../encode/list.ts';
import { negotiate } from '../encode/negotiate.ts';
import { parseListOptions } from '../list-options.ts';
import type { ApiResponse } from '../message.ts';
import { header } from '../message.ts';
import { deleteObject } from '../objects/delete-object.ts';
import type { Cached } from '../resource-cache.ts';
import { admitDelete, type Call } from './call.ts';
import { parseDelete } from './delete-options.ts';
import { readPage } from './list.ts';

/** Deletes under way at once: they share the store's commits, and others get their turn. */
const inFlight = 32;

export async function removeCollection(call: Call): Promise<ApiResponse> {
  const { context, request, resource } = call;
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'list' });
  const selection = parseListOptions(request.query, resource.definition, false);
  const { options, dryRun } = await parseDelete(request);
  const page = await readPage(call, selection);
  const waiting = [...page.items];
  const removeSome = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await removeOne(next);
    }
  };
  const removeOne = async ({ object }: Cached): Promise<void> => {
    const { name = '', namespace = '' } = object.metadata;
    try {
      admitDelete(call, name, namespace);
      await deleteObject(context, {
        resource,
        namespace,
        name,
        options,
        dryRun,
        now: context.now(),
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, removeSome));
  const { contentType, body } = encodeList(representation, resource.definition, {
    ...page,
    now: context.now(),
  });
  return { status: 200, headers: { 'content-type': contentType }, body };
}
