// Names of the cluster, from what the API server says; never from a cache.
import { answerCluster, type ClusterOutcome, type Dependency } from '../cluster/answer.ts';
import type { Way } from '../cluster/follow-aliases.ts';
import { negativeAnswer } from '../cluster/soa.ts';
import type { Validity, Zone } from '../cluster/zone.ts';
import type { ChainParts } from '../parts.ts';
import type { Found, Handler, Lookup, Question } from '../question.ts';
import { type Answer, emptyAnswer } from '../wire/answer.ts';
import { encodeAnswer, type ResourceRecord } from '../wire/encode-answer.ts';
import type { WireName } from '../wire/names.ts';
import { readAnswerRecords } from '../wire/read-message.ts';
import { flags, rcodes } from '../wire/record-types.ts';

export type ClusterParts = Pick<
  ChainParts,
  'zone' | 'cluster' | 'isSynced' | 'serial' | 'keep' | 'autopath'
>;

export function createClusterHandler(parts: ClusterParts, lookup: Lookup): Handler {
  const options = { ...parts.cluster, serial: parts.serial };
  return {
    name: 'kubernetes',
    answer(question) {
      const outcome = answerCluster(parts.zone, question, options);
      if (outcome.kind === 'elsewhere') return undefined;
      if (outcome.kind === 'alias') return completeAlias(question, outcome, lookup);
      const answer = encodeOutcome(question.name, outcome, parts);
      // Where search lists are walked, a name that is not there is only the first step.
      const mayKeep =
        parts.isSynced() && (outcome.kind !== 'missing' || parts.autopath === undefined);
      if (mayKeep && outcome.kind !== 'refused' && outcome.dependsOn !== undefined) {
        parts.keep(question, answer, validityOf(parts.zone, outcome.dependsOn));
      }
      return answer;
    },
  };
}

const always: Validity = { isCurrent: true };

function validityOf(zone: Zone, dependsOn: Dependency): Validity {
  return dependsOn === 'nothing' ? always : zone.validity(dependsOn.namespace, dependsOn.name);
}

function encodeOutcome(
  name: WireName,
  outcome: Exclude<ClusterOutcome, { kind: 'elsewhere' | 'alias' }>,
  parts: ClusterParts,
): Answer {
  switch (outcome.kind) {
    case 'refused':
      return emptyAnswer(rcodes.REFUSED);
    case 'missing':
      return negative(name, outcome.zone, rcodes.NXDOMAIN, parts);
    case 'records':
      return outcome.answers.length === 0
        ? negative(name, outcome.zone, rcodes.NOERROR, parts)
        : encodeAnswer(name, { ...outcome, flags: flags.authoritative });
  }
}

/** Before the first sync nobody can say that a name is not there. */
function negative(name: WireName, zone: WireName, rcode: number, parts: ClusterParts): Answer {
  const options = { ttl: parts.cluster.ttl, serial: parts.serial() };
  return negativeAnswer(name, zone, parts.isSynced() ? rcode : rcodes.SERVFAIL, options);
}

/** A name with more names of others behind it than this is told with the first ones: each costs a question. */
const maxLookups = 16;

async function completeAlias(
  question: Question,
  { ways }: Extract<ClusterOutcome, { kind: 'alias' }>,
  lookup: Lookup,
): Promise<Found> {
  const others = ways.filter(({ target }) => target !== undefined).slice(maxLookups);
  const told = ways.filter((way) => !others.includes(way));
  const parts = await Promise.all(told.map((way) => completeWay(question, way, lookup)));
  return encodeAnswer(question.name, {
    flags: parts.reduce<number>((all, part) => all | part.flags, flags.authoritative),
    answers: parts.flatMap(({ records }) => records),
  });
}

/** The records of the target belong behind the alias; without them it is told alone. */
async function completeWay(question: Question, { records, target }: Way, lookup: Lookup) {
  if (target === undefined) return { records, flags: 0 };
  const { answer } = await lookup({ ...question, name: target, isOwn: true });
  const found: readonly ResourceRecord[] = readAnswerRecords(target, answer) ?? [];
  return {
    records: [...records, ...agedRecords(found, answer.aged?.seconds ?? 0)],
    flags: answer.flags & flags.truncated,
  };
}

function agedRecords(records: readonly ResourceRecord[], seconds: number) {
  if (seconds === 0) return records;
  return records.map((record) => ({ ...record, ttl: Math.max(record.ttl - seconds, 0) }));
}
