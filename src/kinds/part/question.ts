// What a server and the parts that are connected to it send each other.
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import type { PartKind } from './names.ts';

/**
 * One kind of question. Both sides read what the other side sends with its functions, which return undefined for anything else than
 * what they expect, and copy only the fields that they know.
 */
export type QuestionKind<Spec, Answer> = {
  readonly name: string;
  /** The parts that it is for. */
  readonly parts: readonly PartKind[];
  readonly readSpec: (value: unknown) => Spec | undefined;
  readonly readAnswer: (value: unknown) => Answer | undefined;
  /** What is sent in its place; absent: the answer itself. A server takes 50,000 values in a body: more of them are sent as text. */
  writeAnswer?(answer: Answer): string;
};

export type AnyQuestionKind = QuestionKind<unknown, unknown>;

/** A line of the stream `parts/NAME/questions`. */
export type QuestionLine =
  /** The first one: answers on this connection must name it. */
  | { readonly connection: string }
  | { readonly id: string; readonly question: string; readonly spec: unknown }
  /** The answer is no longer needed. */
  | { readonly cancel: string };

const answer = s.struct(
  'Answer',
  {
    id: s.required(s.always(s.string('The question that is answered.'))),
    value: s.pointer(s.any('The answer, in the form that the kind of the question says.')),
    error: s.string('Why there is none.'),
  },
  { numbers: [1, 2, 3] },
);
export type Answer = s.Static<typeof answer>;

/** The body of a POST to `parts/NAME/answers`. */
export const answerListSchema = s.struct(
  'AnswerList',
  {
    ...objectFields,
    connection: s.required(s.always(s.string('The connection on which the questions came.'))),
    items: s.required(s.always(s.list(answer, 'Answers to questions of that connection.'))),
  },
  { description: 'Answers of a part to questions of the server.', numbers: [0, 0, 1, 2, 3] },
);
export type AnswerList = KubeObject & s.Static<typeof answerListSchema>;

const partAnswer = s.struct(
  'PartAnswer',
  {
    part: s.required(s.always(s.string('Name of the part.'))),
    value: s.pointer(s.any('What it answered; absent when it did not.')),
    error: s.string('Why there is no answer.'),
  },
  { numbers: [1, 2, 3] },
);
export type PartAnswer = s.Static<typeof partAnswer>;

/** The body of a POST to `questions`, and its response. */
export const questionSchema = s.struct(
  'Question',
  {
    ...objectFields,
    spec: s.required(
      s.described(
        s.struct(
          'QuestionSpec',
          {
            question: s.required(s.always(s.string('The kind of the question.'))),
            spec: s.pointer(s.any('What it is about, in the form that its kind says.')),
            timeoutMilliseconds: s.int32('How long to wait for answers.'),
          },
          { numbers: [1, 2, 3] },
        ),
        'The question.',
      ),
    ),
    status: s.described(
      s.struct(
        'QuestionStatus',
        { answers: s.list(partAnswer, 'One of each connected part.') },
        { numbers: [1] },
      ),
      'The answers, filled in by the server.',
    ),
  },
  { description: 'A question to all parts of a server.', numbers: [0, 0, 1, 2, 3] },
);
export type Question = KubeObject & s.Static<typeof questionSchema>;
