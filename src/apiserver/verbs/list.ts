// A collection, encoded once for all clients that read the same.
import type { EncodedBody } from '../encode/body.ts';
import { compress } from '../encode/compress.ts';
import { encodeListSteps } from '../encode/list.ts';
import { negotiate, type Representation } from '../encode/negotiate.ts';
import { createSharedLists } from '../encode/shared-lists.ts';
import { runWhileDue } from '../limits/pace.ts';
import type { ApiResponse } from '../message.ts';
import { header } from '../message.ts';
import { type ListOptions, parseListOptions } from '../request/list-options.ts';
import { convertBody } from '../yaml/convert-body.ts';
import { type Call, keyPrefix } from './call.ts';
import { type Page, readPage } from './read-page.ts';

export async function list(call: Call): Promise<ApiResponse> {
  const { context, request, resource, info } = call;
  const { definition } = resource;
  const representation = negotiate(header(request, 'accept'), request.query, { allow: 'list' });
  const options = parseListOptions(info, request.query, { definition, watch: false });
  const page = await readPage(call, options);
  const encode = (): Promise<EncodedBody> =>
    runWhileDue(
      encodeListSteps(representation, resource.definition, { ...page, now: context.now() }),
    );
  const { contentType, body } = await convertBody(
    isShareable(options, representation)
      ? await sharedLists({ resource, key: identity(call, page, representation) }, encode)
      : await encode(),
  );
  const encoded = await compress(body, header(request, 'accept-encoding'));
  return {
    status: 200,
    headers: { 'content-type': contentType, ...encoded.headers },
    body: encoded.body,
  };
}

const sharedLists = createSharedLists();

/** Whether equal requests at one revision have equal responses; a Table shows ages, which change with time. */
function isShareable(options: ListOptions, { as }: Representation): boolean {
  const { selectsAll, limit, continueToken } = options;
  return selectsAll && limit <= 0 && continueToken === '' && as !== 'Table';
}

function identity(
  call: Call,
  { metadata }: Page,
  { format, as, metaVersion, pretty }: Representation,
): string {
  return [keyPrefix(call), metadata.resourceVersion, format, as, metaVersion, pretty].join(' ');
}
