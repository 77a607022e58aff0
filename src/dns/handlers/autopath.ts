// Autopath: a pod that resolves `example.com` first queries `example.com.NAMESPACE.svc.DOMAIN`, and then up to four more names. The pod's
// search list is known, so the first query is answered with what the last one would have found, behind a CNAME.
import type { Zone } from '../cluster/zone.ts';
import type { AutopathOptions } from '../parts.ts';
import type { Found, Handler, Lookup, Question } from '../question.ts';
import { type Answer, emptyAnswer } from '../wire/answer.ts';
import { encodeAnswer } from '../wire/encode-answer.ts';
import { ancestorOffset, joinName, maxNameLength, type WireName } from '../wire/names.ts';
import { readAnswerRecords } from '../wire/read-message.ts';
import { flags, rcodes, types } from '../wire/record-types.ts';

export function createAutopath(
  { domain, hostSearch }: AutopathOptions,
  zone: Zone,
  lookup: Lookup,
): Handler {
  const below = (labels: readonly string[]): WireName => joinName(labels, domain) ?? domain;
  return {
    name: 'autopath',
    answer(question) {
      if (question.isInternal || (question.type !== types.A && question.type !== types.AAAA)) {
        return undefined;
      }
      const pod = zone.podOf(question.client);
      if (pod === undefined) return undefined;
      const first = below([pod.namespace, 'svc']);
      const offset = ancestorOffset(question.name, first);
      if (offset === undefined || offset === 0) return undefined;
      const base = question.name.slice(0, offset);
      const search = [first, below(['svc']), domain, ...hostSearch, '\0'];
      return walk({ ...question, isInternal: true }, base, search, lookup);
    },
  };
}

async function walk(
  question: Question,
  base: string,
  search: readonly WireName[],
  lookup: Lookup,
): Promise<Found> {
  let first: Found;
  for (const suffix of search) {
    const name = base + suffix;
    if (name.length > maxNameLength) continue;
    const { answer } = await lookup({ ...question, name });
    first ??= answer;
    const rcode = answer.flags & flags.rcodeMask;
    if (rcode === rcodes.NXDOMAIN) continue;
    // After a failure it is unknown which name wins: let the pod try its search list itself.
    if (rcode !== rcodes.NOERROR) return first;
    return name === question.name ? answer : behindAlias(question.name, name, answer);
  }
  return first;
}

function behindAlias(question: WireName, found: WireName, answer: Answer): Answer {
  const [first, ...rest] = readAnswerRecords(found, answer) ?? [];
  if (first === undefined) return emptyAnswer(answer.flags);
  const seconds = answer.aged?.seconds ?? 0;
  const alias = { name: question, type: types.CNAME, ttl: first.ttl, data: [found] };
  return encodeAnswer(question, {
    flags: answer.flags,
    answers: [alias, first, ...rest].map((record) => ({
      ...record,
      ttl: Math.max(record.ttl - seconds, 0),
    })),
  });
}
