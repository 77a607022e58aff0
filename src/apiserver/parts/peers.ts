// The other API servers of the cluster. A part is connected to one of them, so a question goes to all.
import type { PartAnswer, QuestionKind } from '../../kinds/part/question.ts';

export type PeerQuestion<Spec> = {
  readonly kind: QuestionKind<Spec, unknown>;
  readonly spec: Spec;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

export type Peers = {
  /** The answers of the parts that are connected to other servers; undefined: there are no other servers. */
  readonly collect: <Spec>(
    question: PeerQuestion<Spec>,
  ) => Promise<readonly PartAnswer[]> | undefined;
};

export const noPeers: Peers = { collect: () => undefined };
