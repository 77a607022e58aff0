// All questions that parts are sent. A new one: its kind in src/kinds/part, a line here, and a handler in the part.
import { positionQuestion } from '../../kinds/part/position.ts';
import type { AnyQuestionKind } from '../../kinds/part/question.ts';
import { trafficQuestion } from '../../kinds/part/traffic.ts';
import { unroutedQuestion } from '../../kinds/part/unrouted.ts';

export const questionKinds: readonly AnyQuestionKind[] = [
  positionQuestion as AnyQuestionKind,
  trafficQuestion as AnyQuestionKind,
  unroutedQuestion as AnyQuestionKind,
];
