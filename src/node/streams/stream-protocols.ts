// The subprotocols for streams of a container over one connection.

export type CommandProtocol = {
  readonly name: string;
  /** Messages are base64 text. */
  readonly isBase64: boolean;
  /** The error stream carries a Status, also on success; older protocols send only error text. */
  readonly hasStatus: boolean;
  /** The client can close its input. */
  readonly canClose: boolean;
  readonly canResize: boolean;
};

const protocol = (name: string, more: Partial<CommandProtocol> = {}): CommandProtocol => ({
  name,
  isBase64: false,
  hasStatus: false,
  canClose: false,
  canResize: true,
  ...more,
});

/** Over WebSocket; the first is for clients that request none. */
export const webSocketCommands: readonly CommandProtocol[] = [
  protocol(''),
  protocol('channel.k8s.io'),
  protocol('base64.channel.k8s.io', { isBase64: true }),
  protocol('v4.channel.k8s.io', { hasStatus: true }),
  protocol('v4.base64.channel.k8s.io', { isBase64: true, hasStatus: true }),
  protocol('v5.channel.k8s.io', { hasStatus: true, canClose: true }),
];

/** Over SPDY, where every stream can be closed. */
export const spdyCommands: readonly CommandProtocol[] = [
  protocol('v4.channel.k8s.io', { hasStatus: true, canClose: true }),
  protocol('v3.channel.k8s.io', { canClose: true }),
  protocol('v2.channel.k8s.io', { canClose: true, canResize: false }),
  protocol('channel.k8s.io', { canClose: true, canResize: false }),
];

/** SPDY over WebSocket, and two channels per port. */
export const portForwardTunnel = 'SPDY/3.1+portforward.k8s.io';
export const webSocketForwards: readonly CommandProtocol[] = [
  protocol(''),
  protocol('v4.channel.k8s.io'),
  protocol('v4.base64.channel.k8s.io', { isBase64: true }),
];

export const spdyForward = 'portforward.k8s.io';

/** The header may be repeated, or have several names. */
export function offeredProtocols(header: string | readonly string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The first of the client's protocols that the server supports. */
export function chooseProtocol<P extends { readonly name: string }>(
  offered: readonly string[],
  known: readonly P[],
): P | undefined {
  if (offered.length === 0) return known.find(({ name }) => name === '');
  return offered.flatMap((name) => known.filter((one) => one.name === name))[0];
}
