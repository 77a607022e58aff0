// Formats the query log: one line per response.
import type { Answered } from './answerer.ts';
import type { PodFacts } from './cluster/facts.ts';
import { queryName } from './wire/decode-query.ts';
import { nameText } from './wire/names.ts';
import { rcodeName, typeName } from './wire/record-types.ts';

/** JSON, as queried names may contain any byte, newlines included. */
export function queryLine(answered: Answered, pod: PodFacts | undefined): string {
  const { client, isTcp, query, rcode, by, bytes } = answered;
  return JSON.stringify({
    client,
    ...(pod === undefined ? {} : { pod: `${pod.namespace}/${pod.name}` }),
    name: nameText(queryName(query)),
    type: typeName(query.type),
    rcode: rcodeName(rcode),
    by,
    protocol: isTcp ? 'tcp' : 'udp',
    bytes,
  });
}
