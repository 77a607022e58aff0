// Questions to the parts that are connected to this server, and their answers. All of it is in memory: a part that is gone, or a server
// that restarts, loses nothing but questions that are open.
import type { PartName } from '../../kinds/part/names.ts';
import { formatPartName } from '../../kinds/part/names.ts';
import type { Answer, PartAnswer, QuestionKind, QuestionLine } from '../../kinds/part/question.ts';
import { createStreamCount, type StreamCount } from '../limits/stream-count.ts';
import { tooManyParts, tooManyQuestions } from '../limits/too-many-requests.ts';

export type PartStream = {
  readonly part: PartName;
  readonly user: string;
  /** Sends a line, or ends the stream of a part that does not read. */
  readonly send: (line: QuestionLine) => void;
};

export type OpenQuestion = {
  /** Of each connected part that the question is for: the answer, or why there is none (yet). */
  readonly answers: () => readonly PartAnswer[];
  /** How many connected parts have not answered. */
  readonly pending: () => number;
  readonly close: () => void;
};

export type PartsChannel = {
  /** Throws 429 when the user has too many parts connected, or the name too many streams. */
  readonly assertRoom: (part: PartName, user: string) => void;
  /** Returns what to call when the stream has ended. */
  readonly connect: (stream: PartStream) => () => void;
  /** Answers to questions that are not open on this connection are ignored. */
  readonly answer: (from: AnswerSource, answers: readonly Answer[]) => void;
  /** Parts that connect while it is open get it, too. Calls back after each change of the answers; throws 429. */
  readonly open: <Spec, Reply>(
    kind: QuestionKind<Spec, Reply>,
    spec: Spec,
    changed: () => void,
  ) => OpenQuestion;
  /** Requests that wait for parts, by user. */
  readonly held: StreamCount;
};

export type AnswerSource = {
  readonly part: string;
  readonly user: string;
  readonly connection: string;
};

export type ChannelOptions = {
  /** Text that is hard to guess. */
  readonly newToken: () => string;
  /** Parts that one user has connected; 0 is no limit. */
  readonly maxPerUser: number;
};

/** Two of a rolling update, and some that are not known to be dead yet. */
const maxPerName = 8;
/** Each is held by a request that waits, and is sent to every part. */
const maxOpen = 1000;
/** More than the pods of a node, which terminate at the same time when it is drained. */
const maxHeldPerUser = 250;
const maxErrorLength = 1000;

type Connection = PartStream & { readonly name: string; readonly token: string };
type Pending = {
  readonly id: string;
  readonly line: QuestionLine;
  readonly kind: Pick<QuestionKind<unknown, unknown>, 'parts' | 'readAnswer'>;
  readonly waiting: Set<Connection>;
  /** A connection that ended without an answer is not among them. */
  readonly answered: Map<Connection, PartAnswer>;
  readonly changed: () => void;
};

export function createPartsChannel({ newToken, maxPerUser }: ChannelOptions): PartsChannel {
  const connections = new Map<string, Connection>();
  const perUser = createStreamCount(maxPerUser);
  const perName = createStreamCount(maxPerName);
  const questions = new Map<string, Pending>();
  let lastId = 0;
  const send = (question: Pending, connection: Connection): void => {
    if (!question.kind.parts.includes(connection.part.kind)) return;
    question.waiting.add(connection);
    connection.send(question.line);
  };
  return {
    assertRoom(part, user) {
      const name = formatPartName(part);
      if (!perUser.hasRoom(user)) throw tooManyParts(user, perUser.limit);
      if (!perName.hasRoom(name)) throw tooManyParts(name, perName.limit);
    },
    connect(stream) {
      const name = formatPartName(stream.part);
      const uncount = [perUser.add(stream.user), perName.add(name)];
      const connection = { ...stream, name, token: newToken() };
      connections.set(connection.token, connection);
      connection.send({ connection: connection.token });
      for (const question of questions.values()) send(question, connection);
      return () => {
        if (!connections.delete(connection.token)) return;
        for (const end of uncount) end();
        for (const { waiting, changed } of [...questions.values()]) {
          if (waiting.delete(connection)) changed();
        }
      };
    },
    answer({ part, user, connection: token }, answers) {
      const connection = connections.get(token);
      if (connection === undefined || connection.name !== part || connection.user !== user) return;
      for (const answer of answers) {
        const question = questions.get(answer.id);
        if (question === undefined || !question.waiting.delete(connection)) continue;
        question.answered.set(connection, { part, ...readAnswer(question, answer) });
        question.changed();
      }
    },
    open(kind, spec, changed) {
      if (questions.size >= maxOpen) throw tooManyQuestions(maxOpen);
      lastId += 1;
      const id = `${lastId}`;
      const line = { id, question: kind.name, spec };
      const question: Pending = {
        ...{ id, line, kind, changed },
        waiting: new Set(),
        answered: new Map(),
      };
      questions.set(id, question);
      for (const connection of [...connections.values()]) send(question, connection);
      return {
        answers: () => [
          ...question.answered.values(),
          ...[...question.waiting].map(({ name }) => ({ part: name, error: 'no answer' })),
        ],
        pending: () => question.waiting.size,
        close() {
          if (!questions.delete(id)) return;
          for (const connection of question.waiting) connection.send({ cancel: id });
        },
      };
    },
    held: createStreamCount(maxHeldPerUser),
  };
}

function readAnswer({ kind }: Pending, { value, error }: Answer): Omit<PartAnswer, 'part'> {
  if (error !== undefined) return { error: error.slice(0, maxErrorLength) };
  const read = kind.readAnswer(value);
  return read === undefined ? { error: 'the answer is not understood' } : { value: read };
}
