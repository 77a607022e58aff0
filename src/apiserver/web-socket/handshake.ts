// The handshake of a WebSocket whose messages only the server sends: logs and watches, as upstream offers them to browsers.
import { createHash } from 'node:crypto';
import { type ApiResponse, header, type VerbRequest } from '../message.ts';

/** Upstream's rule (apimachinery/pkg/util/httpstream/wsstream): both headers, in any case. */
export function isWebSocketRequest(request: VerbRequest): boolean {
  const upgrade = header(request, 'upgrade') ?? '';
  const connection = [request.headers.connection ?? []].flat().join(',');
  return (
    request.tunnels === true &&
    upgrade.toLowerCase() === 'websocket' &&
    connection.toLowerCase().includes('upgrade')
  );
}

export type Handshake =
  | { readonly protocol: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly refusal: ApiResponse };

/** RFC 6455, section 1.3. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** 16 bytes in base64. */
const keyForm = /^[A-Za-z0-9+/]{22}==$/;

/** Chooses the first protocol of the client that is supported; '' is for a client that names none. */
export function acceptHandshake(request: VerbRequest, supported: readonly string[]): Handshake {
  if (header(request, 'sec-websocket-version') !== '13') {
    return refused(400, { 'sec-websocket-version': '13' }, 'missing or bad WebSocket Version');
  }
  const key = header(request, 'sec-websocket-key') ?? '';
  if (!keyForm.test(key)) return refused(400, {}, 'mismatch challenge/response');
  const requested = header(request, 'sec-websocket-protocol')
    ?.split(',')
    .map((name) => name.trim());
  const protocol = (requested ?? ['']).find((name) => supported.includes(name));
  if (protocol === undefined) return refused(403, {}, '');
  const accept = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64');
  return {
    protocol,
    headers: {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': accept,
      ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }),
    },
  };
}

const refused = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Handshake => ({ refusal: { status, headers, body } });
