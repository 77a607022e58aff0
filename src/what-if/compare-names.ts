// Names of a Service whose records differ, as the cluster's DNS answers.
import { sliceFacts } from '../dns/cluster/facts.ts';
import { wireName } from '../dns/wire/names.ts';
import { types } from '../dns/wire/record-types.ts';
import { answerQuestion } from '../trace/answer-question.ts';
import { zoneOf } from '../trace/snapshot-zone.ts';
import type { ServiceKey } from './compare-service.ts';
import type { Moment } from './judge-port.ts';
import type { NameChange } from './what-if.ts';

/** Of one Service: StatefulSets with more pods than this have names that need not be listed one by one. */
const maxNames = 1000;

type Question = { readonly name: string; readonly type: 'A' | 'AAAA' | 'SRV' };

export function compareNames(
  { before, after }: { readonly before: Moment; readonly after: Moment },
  key: ServiceKey,
  domain: string,
): readonly NameChange[] {
  const questions = new Map<string, Question>();
  for (const moment of [before, after]) {
    for (const one of questionsAt(moment, key, domain)) {
      if (questions.size < maxNames) questions.set(`${one.name} ${one.type}`, one);
    }
  }
  return [...questions.values()].flatMap((question) => {
    const was = recordsAt(before, question, domain);
    const is = recordsAt(after, question, domain);
    const change = changeOf(was, is, question);
    return change === undefined ? [] : [{ change, ...question, before: was, after: is }];
  });
}

function changeOf(
  was: readonly string[],
  is: readonly string[],
  { type }: Question,
): NameChange['change'] | undefined {
  if (was.length === 0 && is.length === 0) return undefined;
  if (was.length === 0) return 'appears';
  if (is.length === 0) return 'vanishes';
  const ports = (all: readonly string[]) =>
    [...new Set(all.map((one) => one.split(' ')[2]))].sort();
  // Targets of SRV records follow from the addresses of endpoints, which are listed.
  const [left, right] = type === 'SRV' ? [ports(was), ports(is)] : [was, is];
  return left.join() === right.join() ? undefined : 'changes';
}

function questionsAt(
  { named }: Moment,
  { namespace, name }: ServiceKey,
  domain: string,
): readonly Question[] {
  const service = named.service(namespace, name);
  if (service === undefined) return [];
  const base = `${name}.${namespace}.svc.${domain}`;
  const labels = named.slicesOf(namespace, name).flatMap((slice) => {
    const facts = sliceFacts(slice, { endpointPodNames: false });
    return facts?.labels.filter((label) => label !== '') ?? [];
  });
  const ports = (service.spec.ports ?? []).flatMap((one) =>
    one.name ? [`_${one.name}._${(one.protocol ?? 'TCP').toLowerCase()}.${base}`] : [],
  );
  return [
    ...[base, ...new Set(labels.map((label) => `${label}.${base}`))].flatMap((one) => [
      { name: one, type: 'A' } as const,
      { name: one, type: 'AAAA' } as const,
    ]),
    ...ports.map((one) => ({ name: one, type: 'SRV' }) as const),
  ];
}

/** Aliases stand as they are: what they lead to is another name. */
function recordsAt({ named }: Moment, { name, type }: Question, domain: string): readonly string[] {
  const wire = wireName(name);
  if (wire === undefined) return [];
  const { answers } = answerQuestion(zoneOf(named), { name: wire, type: types[type] }, { domain });
  return answers.map((one) => (one.type === type ? one.data : `${one.type} ${one.data}`)).sort();
}
