// Answers questions of the API server about this part. The server sends them over one long request; at rest nothing is sent. An API
// server that does not have the resource is left alone, apart from a request now and then that finds out whether it has it by now.
import { type Clock, sleep } from '../../host/clock.ts';
import { formatPartName, type PartName, partResource } from '../../kinds/part/names.ts';
import type { Answer, QuestionKind, QuestionLine } from '../../kinds/part/question.ts';
import { isForbidden, isNotFound } from '../../meta/api-error.ts';
import type { Log } from '../../observe/log.ts';
import { type ApiCaller, callApi, openCall } from '../api-call.ts';
import { backOffMs } from '../back-off.ts';
import { readJsonLines } from '../json-lines.ts';
import { resourcePath } from '../resource.ts';
import { isPartsGroupServed } from './parts-group.ts';

/** Made by `answerTo()`. */
export type QuestionHandler = {
  readonly question: string;
  /** Rejects, or throws, where there is no answer. The signal aborts when it is no longer needed. */
  readonly answer: (spec: unknown, signal: AbortSignal) => unknown;
};

export type AnswerOptions = {
  readonly caller: ApiCaller;
  readonly part: PartName;
  readonly handlers: readonly QuestionHandler[];
  readonly clock: Clock;
  readonly log: Log;
  /** In [0, 1): jitter of the waits. */
  readonly random?: () => number;
};

/** A handler for one kind of question, with its types. */
export function answerTo<Spec, Reply>(
  kind: QuestionKind<Spec, Reply>,
  answer: (spec: Spec, signal: AbortSignal) => Reply | Promise<Reply>,
): QuestionHandler {
  return {
    question: kind.name,
    async answer(value, signal) {
      const spec = kind.readSpec(value);
      if (spec === undefined) throw new Error(`Cannot read the question ${kind.name}`);
      const reply = await answer(spec, signal);
      return kind.writeAnswer === undefined ? reply : kind.writeAnswer(reply);
    },
  };
}

/** A server that restarts gets its parts back over some seconds, and not all at once. */
const backOff = { firstMs: 1000, maxMs: 30_000 };
/** Between two checks whether the server has the resource, or allows this part to use it. */
const recheckMs = 600_000;
/** Far more than are ever open; the server has a limit, too. */
const maxOpen = 2000;
/** Answers of one request. */
const maxBatch = 500;
/** And their texts: a server takes 3 MiB. */
const maxBatchText = 1024 * 1024;
const maxTries = 3;

/** Resolves after the signal. */
export async function answerQuestions(options: AnswerOptions, signal: AbortSignal): Promise<void> {
  const { caller, clock, log, random = Math.random } = options;
  let failures = 0;
  let isKnown = false;
  let isReported = false;
  while (!signal.aborted) {
    try {
      isKnown ||= await isPartsGroupServed(caller, signal);
      if (!isKnown) {
        if (!isReported) log.debug('API server takes no reports of parts');
        isReported = true;
        await sleep(clock, recheckMs * (1 + random()), signal);
        continue;
      }
      await serveStream(options, () => (failures = 0), signal);
    } catch (error) {
      if (signal.aborted) return;
      isKnown = false;
      if (isForbidden(error) || isNotFound(error)) {
        log.debug('API server takes no reports of this part', { error: String(error) });
        await sleep(clock, recheckMs * (1 + random()), signal);
        continue;
      }
      log.debug('Questions of the API server failed, retrying', { error: String(error) });
    }
    await sleep(clock, backOffMs(backOff, failures, random()), signal);
    failures += 1;
  }
}

/** Reads questions until the server ends the stream. */
async function serveStream(
  options: AnswerOptions,
  connected: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { caller, part } = options;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  const path = resourcePath(partResource, {
    name: formatPartName(part),
    subresource: 'questions',
  });
  try {
    const { body } = await openCall(caller, { method: 'GET', path, signal: until });
    let receive = (_line: QuestionLine): void => {};
    for await (const line of readJsonLines(body)) {
      const read = line as QuestionLine;
      if ('connection' in read) {
        connected();
        receive = createAnswering(options, read.connection, until);
      } else receive(read);
    }
  } finally {
    ended.abort();
  }
}

/** Returns what to call with each line. Answers that are ready at the same time are sent with one request. */
function createAnswering(
  options: AnswerOptions,
  connection: string,
  signal: AbortSignal,
): (line: QuestionLine) => void {
  const { handlers } = options;
  const open = new Map<string, AbortController>();
  const ready: Answer[] = [];
  let isSending = false;
  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    // What other questions of this moment are answered with goes along.
    await new Promise(setImmediate);
    while (ready.length > 0 && !signal.aborted) {
      await sendAnswers(options, { connection, items: takeBatch(ready) }, signal);
    }
    isSending = false;
  };
  const finish = (id: string, answer: Omit<Answer, 'id'>): void => {
    if (!open.delete(id) || signal.aborted) return;
    ready.push({ id, ...answer });
    void send();
  };
  const cancelAll = (): void => {
    for (const one of open.values()) one.abort();
  };
  signal.addEventListener('abort', cancelAll, { once: true });
  return (line) => {
    if ('cancel' in line) {
      open.get(line.cancel)?.abort();
      open.delete(line.cancel);
    }
    if (!('id' in line) || open.has(line.id)) return;
    const cancel = new AbortController();
    open.set(line.id, cancel);
    const handler = handlers.find(({ question }) => question === line.question);
    if (handler === undefined || open.size > maxOpen) {
      const error = handler === undefined ? 'unknown question' : 'too many open questions';
      finish(line.id, { error });
      return;
    }
    answered(handler, line.spec, cancel.signal).then(
      (value) => finish(line.id, { value }),
      (error: unknown) => finish(line.id, { error: String(error) }),
    );
  };
}

/** One, and as many as fit. */
function takeBatch(ready: Answer[]): readonly Answer[] {
  let count = 0;
  let text = 0;
  for (const { value } of ready.slice(0, maxBatch)) {
    text += typeof value === 'string' ? value.length : 0;
    if (count > 0 && text > maxBatchText) break;
    count += 1;
  }
  return ready.splice(0, count);
}

const answered = async (
  handler: QuestionHandler,
  spec: unknown,
  signal: AbortSignal,
): Promise<unknown> => handler.answer(spec, signal);

async function sendAnswers(
  { caller, part, clock, log }: AnswerOptions,
  body: { readonly connection: string; readonly items: readonly Answer[] },
  signal: AbortSignal,
): Promise<void> {
  const { group, version } = partResource;
  const call = {
    method: 'POST',
    path: resourcePath(partResource, { name: formatPartName(part), subresource: 'answers' }),
    body: { apiVersion: `${group}/${version}`, kind: 'AnswerList', ...body },
    signal,
  };
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      await callApi(caller, call);
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.debug('Failed to send answers', { error: String(error) });
      // Without an answer the server names this part as one that did not answer.
      if (tries === maxTries) return;
      await sleep(clock, backOffMs(backOff, tries - 1, 1), signal);
    }
  }
}
