// The source addresses of a request: those of X-Forwarded-For and X-Real-Ip, then the connection's.
import { parseAddress } from '../../ip/address.ts';
import { type ApiRequest, header } from '../message.ts';

export function sourceIps(request: ApiRequest): readonly string[] {
  const forwarded = (header(request, 'x-forwarded-for') ?? '')
    .split(',')
    .map((text) => text.trim());
  const real = (header(request, 'x-real-ip') ?? '').trim();
  const noted = [...forwarded, real].filter((text) => parseAddress(text) !== undefined);
  const { address } = request.peer;
  return [...new Set(address === undefined ? noted : [...noted, address])];
}
