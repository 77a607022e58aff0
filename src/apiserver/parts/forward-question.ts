// `questions`: what another server of the cluster wants to know from the parts that are connected to this one.
import { questionResource } from '../../kinds/part/names.ts';
import { type AnyQuestionKind, type Question, questionSchema } from '../../kinds/part/question.ts';
import { badRequest } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { VirtualKind } from '../discovery/served-kind.ts';
import type { ApiResponse } from '../message.ts';
import { readObject } from '../request/read-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import { collectAnswers } from './collect-answers.ts';
import { answerWith, type PartCall } from './part-call.ts';
import { noPeers } from './peers.ts';
import { questionKinds } from './question-kinds.ts';

export const questionKind: VirtualKind = { ...questionResource, schema: questionSchema };

/** Less than the timeout of requests. */
const maxTimeoutMs = 30_000;
const defaultTimeoutMs = 2000;

export async function answerQuestion(call: PartCall): Promise<ApiResponse> {
  const { context, request } = call;
  const options = parseWriteOptions(request.query, 'CreateOptions');
  const question = (await readObject(call, questionKind, options)) as Question;
  const { kind, spec } = readQuestion(question);
  const timeoutMs = Math.min(question.spec.timeoutMilliseconds || defaultTimeoutMs, maxTimeoutMs);
  const answers = await collectAnswers(
    { channel: context.partsChannel, peers: noPeers },
    kind,
    spec,
    {
      timeoutMs,
      signal: request.signal(),
    },
  );
  return answerWith(call, questionKind, 201, { ...question, status: { answers } } as Question);
}

function readQuestion({ spec }: Question): { kind: AnyQuestionKind; spec: unknown } {
  const kind = questionKinds.find(({ name }) => name === spec.question);
  if (kind === undefined) throw badRequest(`unknown question ${goQuote(spec.question)}`);
  const read = kind.readSpec(spec.spec);
  if (read === undefined) throw badRequest(`cannot read the spec of a question ${kind.name}`);
  return { kind, spec: read };
}
