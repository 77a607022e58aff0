// What the cluster's DNS answers to one question, and whether that fits into a packet.
import { answerCluster, type ClusterOptions, type Dependency } from '../dns/cluster/answer.ts';
import type { Zone } from '../dns/cluster/zone.ts';
import { encodeAnswer, type ResourceRecord } from '../dns/wire/encode-answer.ts';
import { type WireName, wireName } from '../dns/wire/names.ts';
import { type RecordText, recordText } from '../dns/wire/record-text.ts';
import { headerSize, minUdpSize } from '../dns/wire/record-types.ts';

export type Answered = {
  readonly rcode: 'NOERROR' | 'NXDOMAIN' | 'REFUSED' | 'outside';
  readonly answers: readonly RecordText[];
  readonly additionals: readonly RecordText[];
  /** Names outside of the cluster to which aliases lead: other servers are queried for their records. */
  readonly continuesAt: readonly WireName[];
  /** It does not fit into an answer over UDP without EDNS. */
  readonly isTruncated: boolean;
  /** The Service, which need not exist, on which the answer depends. */
  readonly dependsOn?: { readonly namespace: string; readonly name: string };
};

export type QuestionOptions = {
  readonly domain: string;
  /** The largest answer over UDP that the client takes. */
  readonly udpSize?: number;
};

/** The settings of Fairlead's DNS and of CoreDNS as installers leave it. */
const defaults = {
  ttl: 30,
  versionTtl: 30,
  pods: 'insecure',
  ignoreEmptyService: false,
  ownAddresses: [],
} as const satisfies Partial<ClusterOptions>;

/** Type and class of the question. */
const questionTail = 4;

export function answerQuestion(
  zone: Zone,
  { name, type }: { readonly name: WireName; readonly type: number },
  { domain, udpSize = minUdpSize }: QuestionOptions,
): Answered {
  const apex = wireName(domain);
  if (apex === undefined) return nothing('outside');
  const outcome = answerCluster(
    zone,
    { name, type },
    { ...defaults, domain: apex, serial: () => 0 },
  );
  switch (outcome.kind) {
    case 'elsewhere':
      return nothing('outside');
    case 'refused':
      return nothing('REFUSED');
    case 'missing':
      return { ...nothing('NXDOMAIN'), ...serviceOf(outcome.dependsOn) };
    case 'alias': {
      const records = outcome.paths.flatMap((path) => path.records);
      const continuesAt = outcome.paths.flatMap(({ target }) => target ?? []);
      return { ...nothing('NOERROR'), answers: records.map(recordText), continuesAt };
    }
    case 'records': {
      const { answers, additionals } = outcome;
      return {
        ...nothing('NOERROR'),
        ...serviceOf(outcome.dependsOn),
        answers: answers.map(recordText),
        additionals: additionals.map(recordText),
        isTruncated: sizeOf(name, answers, additionals) > udpSize,
      };
    }
  }
}

function serviceOf(dependsOn: Dependency | undefined): Pick<Answered, 'dependsOn'> {
  return dependsOn === undefined || dependsOn === 'nothing' ? {} : { dependsOn };
}

function nothing(rcode: Answered['rcode']): Answered {
  return { rcode, answers: [], additionals: [], continuesAt: [], isTruncated: false };
}

function sizeOf(
  name: WireName,
  answers: readonly ResourceRecord[],
  additionals: readonly ResourceRecord[],
): number {
  const { body } = encodeAnswer(name, { flags: 0, answers, additionals });
  return headerSize + name.length + questionTail + body.length;
}
