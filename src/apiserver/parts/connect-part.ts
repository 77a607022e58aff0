// `parts/NAME/questions`, the stream of questions that a part reads, and `parts/NAME/answers`, where it answers them.
import {
  formatPartName,
  type PartName,
  parsePartName,
  partResource,
} from '../../kinds/part/names.ts';
import { type AnswerList, answerListSchema, type QuestionLine } from '../../kinds/part/question.ts';
import { badRequest, forbidden } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { nodeIdentity } from '../access/known-users.ts';
import type { User } from '../access/user.ts';
import type { ApiResponse, Sink } from '../message.ts';
import type { SpokenKind } from '../openapi/document-v3.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import { answerWith, type PartCall } from './part-call.ts';

const { group, version } = partResource;
export const answerListKind = {
  ...{ group, version, kind: 'AnswerList', schema: answerListSchema },
} satisfies SpokenKind;

/** A part that leaves this much unread is not alive. Questions are small. */
const maxUnreadBytes = 1024 * 1024;
/** As watches: parts spread over the servers, and a connection that is dead is found. */
const minStreamMs = 30 * 60_000;

export function connectPart({ context, info, user }: PartCall): ApiResponse {
  const part = partOf(info.name, user);
  const { partsChannel } = context;
  partsChannel.assertRoom(part, user.name);
  const start = (sink: Sink): void => {
    const send = (line: QuestionLine): void => {
      if (sink.buffered() > maxUnreadBytes) sink.end();
      else sink.write(Buffer.from(`${JSON.stringify(line)}\n`));
    };
    const disconnect = partsChannel.connect({ part, user: user.name, send });
    const timer = setTimeout(() => sink.end(), minStreamMs * (1 + Math.random())).unref();
    sink.onClose(() => {
      clearTimeout(timer);
      disconnect();
    });
  };
  return { status: 200, headers: { 'content-type': 'application/json' }, body: { start } };
}

export async function acceptAnswers(call: PartCall): Promise<ApiResponse> {
  const { context, request, info, user } = call;
  const part = formatPartName(partOf(info.name, user));
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const body = (await readObject(call, kindOfBody, options)) as AnswerList;
  const { connection, items } = body;
  context.partsChannel.answer({ part, user: user.name, connection }, items ?? []);
  // What was sent is not sent back.
  return answerWith(call, kindOfBody, 201, { ...body, items: [] } as AnswerList);
}

const kindOfBody = { ...partResource, ...answerListKind };

/** A node answers for its own parts only. */
function partOf(name: string, user: User): PartName {
  const part = parsePartName(name);
  if (part === undefined) {
    throw badRequest(`${goQuote(name)} is not the name of a part, want for example proxy.NODE`);
  }
  const node = nodeIdentity(user);
  if (node !== undefined && node !== part.node) {
    const resource = { group, resource: partResource.plural };
    throw forbidden(resource, name, `node ${goQuote(node)} can only answer for its own parts`);
  }
  return part;
}
