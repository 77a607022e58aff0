// Browsers cannot set headers of a WebSocket request; they send a token as the name of a subprotocol. Upstream:
// authentication/request/websocket.
import { type ApiRequest, header } from '../message.ts';

const prefix = 'base64url.bearer.authorization.k8s.io.';

/** Undefined when there is none; '' for an invalid one, such as one without another subprotocol. */
export function webSocketToken(request: ApiRequest): string | undefined {
  if (header(request, 'upgrade')?.toLowerCase() !== 'websocket') return undefined;
  const names = protocolNames(request.headers['sec-websocket-protocol']);
  const tokens = names.filter((name) => name.startsWith(prefix));
  const [first, second] = tokens;
  if (first === undefined) return undefined;
  const isAlone = tokens.length === names.length;
  const text = first.slice(prefix.length);
  const isGood = second === undefined && !isAlone && /^[\w-]+$/.test(text);
  return isGood ? Buffer.from(text, 'base64url').toString() : '';
}

/** The subprotocols to forward: the token is for this server only. */
export function withoutToken(protocols: string | readonly string[]): string {
  return protocolNames(protocols)
    .filter((name) => !name.startsWith(prefix))
    .join(', ');
}

const protocolNames = (value: string | readonly string[] | undefined): readonly string[] =>
  [value ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .map((name) => name.trim());
