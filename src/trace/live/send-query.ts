// One DNS query as a resolver sends it: to one server after the other, over TCP when the answer does not fit.
import { isIP } from 'node:net';
import { exchangeTcp, exchangeUdp } from '../../dns/forward/send-query.ts';
import { wireName } from '../../dns/wire/names.ts';
import { type Message, readAnswerRecords } from '../../dns/wire/read-message.ts';
import { recordText } from '../../dns/wire/record-text.ts';
import { flags, rcodeName, types } from '../../dns/wire/record-types.ts';
import { systemClock } from '../../host/clock.ts';
import type { LiveRequest, QueryAnswer } from './live-request.ts';

type Query = Extract<LiveRequest, { readonly kind: 'query' }>;

const dnsPort = 53;
/** As resolv.conf(5) has it. */
const maxServers = 3;
const maxTtl = 0x7fffffff;
/** Answers have up to 64 KiB; what people and programs read is less. */
const maxRecords = 1000;

export async function sendQuery(query: Query): Promise<QueryAnswer> {
  const startedAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedAt);
  const reasons: string[] = [];
  for (const server of query.servers.slice(0, maxServers)) {
    try {
      if (isIP(server) === 0) throw new Error('this is no address');
      const { rcode, answer, question } = await exchange(server, query);
      const records = readAnswerRecords(question.name, answer) ?? [];
      return {
        ...{ server, rcode: rcodeName(rcode), tookMs: tookMs() },
        records: records.slice(0, maxRecords).map(recordText),
        ...(reasons.length === 0 ? {} : { why: reasons.join('; ') }),
      };
    } catch (error) {
      reasons.push(`${server}: ${reasonOf(error)}`);
    }
  }
  const why = reasons.length === 0 ? 'there is no server' : reasons.join('; ');
  return { server: query.servers[0] ?? '', records: [], tookMs: tookMs(), why };
}

async function exchange(server: string, query: Query): Promise<Message> {
  const name = wireName(query.name);
  if (name === undefined) throw new Error('the name is too long for DNS');
  const options = {
    server: { host: server, port: query.port ?? dnsPort },
    question: { name, type: types[query.type], dnssecOk: false, checkingDisabled: false },
    timeoutMs: query.timeoutMs,
    maxTtl,
    clock: systemClock,
    signal: new AbortController().signal,
  };
  const message = await exchangeUdp(options);
  return (message.flags & flags.truncated) === 0 ? message : exchangeTcp(options);
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'refused' : message;
}
