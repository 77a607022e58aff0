// The resources over which parts say what is in effect. Nothing of them is stored.
import { partResource, questionResource } from '../../kinds/part/names.ts';
import { objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { acceptAnswers, answerListKind, connectPart } from './connect-part.ts';
import { answerQuestion, questionKind } from './forward-question.ts';
import { holdRelease, releaseKind } from './hold-release.ts';
import { listTraffic, trafficKind } from './list-traffic.ts';
import type { PartKindServed } from './part-call.ts';
import { propagationKind, readPropagation } from './read-propagation.ts';

const { group, version } = partResource;

const parts: PartKindServed = {
  ...partResource,
  schema: s.struct('Part', objectFields, { numbers: [0, 0, 1] }),
  verbs: [],
  subresources: [
    { name: 'answers', group, version, kind: answerListKind.kind, verbs: ['create'] },
    { name: 'questions', group, version, kind: questionResource.kind, verbs: ['get'] },
  ],
  handlers: { 'questions/get': connectPart, 'answers/create': acceptAnswers },
};

const questions: PartKindServed = { ...questionKind, handlers: { create: answerQuestion } };

const releases: PartKindServed = { ...releaseKind, handlers: { get: holdRelease } };

const propagations: PartKindServed = { ...propagationKind, handlers: { get: readPropagation } };

const traffics: PartKindServed = {
  ...trafficKind,
  handlers: { get: listTraffic, list: listTraffic },
};

export const servedPartKinds: readonly PartKindServed[] = [
  parts,
  propagations,
  questions,
  releases,
  traffics,
];
