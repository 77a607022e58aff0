// Answers names of the cluster from the current state of the API objects.
import { answerCluster, type ClusterOutcome, type Dependency } from '../cluster/answer.ts';
import type { AliasPath } from '../cluster/follow-aliases.ts';
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
  'zone' | 'cluster' | 'isSynced' | 'serial' | 'cacheResponse' | 'autopath'
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
      // With autopath a missing name is only the first step of a search list.
      const isCacheable =
        parts.isSynced() && (outcome.kind !== 'missing' || parts.autopath === undefined);
      if (isCacheable && outcome.kind !== 'refused' && outcome.dependsOn !== undefined) {
        parts.cacheResponse(question, answer, validityOf(parts.zone, outcome.dependsOn));
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

/** Before the first sync it is unknown whether a name exists: SERVFAIL. */
function negative(name: WireName, zone: WireName, rcode: number, parts: ClusterParts): Answer {
  const options = { ttl: parts.cluster.ttl, serial: parts.serial() };
  return negativeAnswer(name, zone, parts.isSynced() ? rcode : rcodes.SERVFAIL, options);
}

/** At most this many targets outside of the cluster are resolved per question: each costs an upstream query. */
const maxLookups = 16;

async function completeAlias(
  question: Question,
  { paths }: Extract<ClusterOutcome, { kind: 'alias' }>,
  lookup: Lookup,
): Promise<Found> {
  const dropped = paths.filter(({ target }) => target !== undefined).slice(maxLookups);
  const answered = paths.filter((path) => !dropped.includes(path));
  const parts = await Promise.all(answered.map((path) => completePath(question, path, lookup)));
  return encodeAnswer(question.name, {
    flags: parts.reduce<number>((all, part) => all | part.flags, flags.authoritative),
    answers: parts.flatMap(({ records }) => records),
  });
}

/** Appends the records of the target; without any, the alias is answered alone. */
async function completePath(question: Question, { records, target }: AliasPath, lookup: Lookup) {
  if (target === undefined) return { records, flags: 0 };
  const { answer } = await lookup({ ...question, name: target, isInternal: true });
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
