// A question on its way through the chain, and the reply.
import type { AnsweredBy, HandlerName } from './counters.ts';
import type { Answer } from './wire/answer.ts';
import type { WireName } from './wire/names.ts';

export type Question = {
  /** In lower case. */
  readonly name: WireName;
  readonly type: number;
  readonly class: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  /** The address of the client. */
  readonly client: string;
  /** Sent by a handler to answer another question; autopath ignores it. */
  readonly isInternal: boolean;
};

export type Reply = {
  readonly answer: Answer;
  /** The handler that answered; '' when none did. */
  readonly by: AnsweredBy;
};

/** One handler of the chain, in CoreDNS' words a plugin. */
export type Handler = {
  /** The label of its responses in the metrics: a handler without a counter does not compile. */
  readonly name: HandlerName;
  /** Undefined: the next handler is tried. */
  readonly answer: (question: Question) => Found | Promise<Found>;
};
export type Found = Answer | undefined;

/** Resolves a question from the start of the chain, for handlers that need the answer to another question. */
export type Lookup = (question: Question) => Reply | Promise<Reply>;
