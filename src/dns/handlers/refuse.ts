// Who gets no answer.
import { parseAddress } from '../../ip/address.ts';
import { type Cidr, containsAddress } from '../../ip/cidr.ts';
import type { Handler } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import { classInternet, rcodes, types } from '../wire/record-types.ts';

const refused = emptyAnswer(rcodes.REFUSED);

/** There is no other net than the internet. */
export const refuseOtherClasses: Handler = {
  name: 'refuse',
  answer: (question) => (question.class === classInternet ? undefined : refused),
};

/** Names outside of the cluster are looked up only for those who may; whole zones for nobody. */
export function refuseForeign(allow: readonly Cidr[] | undefined): Handler {
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
