// A question on its way through the chain, and what comes back.
import type { Answer } from './wire/answer.ts';
import type { WireName } from './wire/names.ts';

export type Question = {
  /** In lower case. */
  readonly name: WireName;
  readonly type: number;
  readonly class: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  /** The address of who asks. */
  readonly client: string;
  /** Asked by a handler that needs it for another question: nobody walks a search list for it. */
  readonly isOwn: boolean;
};

export type Reply = {
  readonly answer: Answer;
  /** The name of the handler that knew it. */
  readonly by: string;
};

/** One place where a question may find its answer. */
export type Handler = {
  readonly name: string;
  /** Undefined: ask the next. */
  readonly answer: (question: Question) => Found | Promise<Found>;
};
export type Found = Answer | undefined;

/** Asks a question anew, from the start of the chain, for those who need the answer to another one. */
export type Lookup = (question: Question) => Reply | Promise<Reply>;
