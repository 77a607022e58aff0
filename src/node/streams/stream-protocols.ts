// The names under which clients and kubelets have agreed on how streams of a container share a connection, over the years.

export type CommandProtocol = {
  readonly name: string;
  /** Messages are text. */
  readonly isBase64: boolean;
  /** How a command ended is told as a Status, also when it ended well; before, only what went wrong, as text. */
  readonly hasStatus: boolean;
  /** The client can say that its input has ended. */
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

/** Over WebSocket; a client that names none gets the first. */
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

/** SPDY inside of WebSocket messages, and two channels for each port. */
export const portForwardTunnel = 'SPDY/3.1+portforward.k8s.io';
export const webSocketForwards: readonly CommandProtocol[] = [
  protocol(''),
  protocol('v4.channel.k8s.io'),
  protocol('v4.base64.channel.k8s.io', { isBase64: true }),
];

export const spdyForward = 'portforward.k8s.io';

/** Of a header that may be repeated, or have several names in one line. */
export function offeredProtocols(header: string | readonly string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The first that both know, by the client's order; undefined when there is none. */
export function chooseProtocol<P extends { readonly name: string }>(
  offered: readonly string[],
  known: readonly P[],
): P | undefined {
  if (offered.length === 0) return known.find(({ name }) => name === '');
  return offered.flatMap((name) => known.filter((one) => one.name === name))[0];
}
