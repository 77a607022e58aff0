// Refuses queries by class, type and client.
import { parseAddress } from '../../ip/address.ts';
import { type Cidr, containsAddress } from '../../ip/cidr.ts';
import type { Handler } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import { classInternet, rcodes, types } from '../wire/record-types.ts';

const refused = emptyAnswer(rcodes.REFUSED);

/** Only the class IN is answered. */
export const refuseOtherClasses: Handler = {
  name: 'refuse',
  answer: (question) => (question.class === classInternet ? undefined : refused),
};

/** Names outside of the cluster are resolved only for allowed clients; zone transfers are always refused. */
export function refuseUnauthorized(allow: readonly Cidr[] | undefined): Handler {
  return {
    name: 'refuse',
    answer({ client, type }) {
      if (type === types.AXFR || type === types.IXFR) return refused;
      if (allow === undefined) return undefined;
      const address = parseAddress(client);
      const mayAsk = address !== undefined && allow.some((cidr) => containsAddress(cidr, address));
      return mayAsk ? undefined : refused;
    },
  };
}
