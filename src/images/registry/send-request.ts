// One HTTP request to a registry, with limits on everything that the other side decides. Redirects are followed, without credentials where they lead
// to another host.
import {
  type Agent as HttpAgent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestPlain,
} from 'node:http';
import { type Agent as HttpsAgent, request as requestTls } from 'node:https';
import { rootCertificates } from 'node:tls';
import { parseAddress } from '../../ip/address.ts';
import { mayBeMetadataService } from '../../ip/metadata-service.ts';
import { describeFailure, RegistryError } from './registry-error.ts';

export type Connections = {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** Without a byte, or with hardly any. */
  readonly stallMs: number;
};

export type RegistryRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Certificates are not verified. */
  readonly isInsecure: boolean;
  readonly certificateAuthority?: string;
  readonly signal: AbortSignal;
};

export type RegistryResponse = {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** To be read or destroyed. */
  readonly body: IncomingMessage;
  /** `GET request to https://...`, without the query, which may contain signatures. */
  readonly title: string;
};

/** As many as clients of registries follow. */
const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export async function sendRequest(
  connections: Connections,
  request: RegistryRequest,
): Promise<RegistryResponse> {
  let current = request;
  for (let hops = 0; ; hops += 1) {
    const response = await sendOne(connections, current);
    const location = response.header('location');
    // What is posted is a credential, which goes nowhere else.
    const isFollowed = redirects.has(response.status) && request.method !== 'POST';
    if (!isFollowed || location === undefined) return response;
    response.body.destroy();
    if (hops >= maxRedirects)
      throw new RegistryError(
        'invalid',
        `${response.title}: stopped after ${maxRedirects} redirects`,
      );
    current = redirected(current, location);
  }
}

/** Longer locations are not URLs of registries. */
const maxLocationLength = 16_384;

function redirected(request: RegistryRequest, location: string): RegistryRequest {
  const title = titleOf(request);
  if (location.length > maxLocationLength || !URL.canParse(location, request.url))
    throw new RegistryError('invalid', `${title}: redirected to what is not a URL`);
  const from = new URL(request.url);
  const to = new URL(location, request.url);
  if (to.protocol !== 'https:' && to.protocol !== from.protocol)
    throw new RegistryError(
      'invalid',
      `${title}: redirected from https to ${to.protocol}//${to.host}`,
    );
  refuseMetadataService(to);
  const isSameHost = to.host === from.host && to.protocol === from.protocol;
  const { authorization: _, ...others } = request.headers;
  return {
    ...request,
    url: to.href,
    headers: isSameHost ? request.headers : others,
    // The authority and the trust are those of the registry that was configured.
    isInsecure: isSameHost && request.isInsecure,
  };
}

/** A registry must not make this machine send requests to the credentials service of its cloud. */
export function refuseMetadataService({ hostname }: URL): void {
  const address = parseAddress(hostname.replace(/^\[|\]$/g, ''));
  if (address !== undefined && mayBeMetadataService(address))
    throw new RegistryError('invalid', `the registry refers to ${hostname}, a link-local address`);
}

const titleOf = ({ method, url }: RegistryRequest): string => {
  const { origin, pathname } = new URL(url);
  return `${method} request to ${origin}${pathname}`.slice(0, 500);
};

function sendOne(connections: Connections, request: RegistryRequest): Promise<RegistryResponse> {
  const { url, method, body, signal } = request;
  const title = titleOf(request);
  const isTls = url.startsWith('https:');
  const headers: OutgoingHttpHeaders = {
    ...{ 'user-agent': 'fairlead', 'accept-encoding': 'identity' },
    ...request.headers,
  };
  return new Promise((resolve, reject) => {
    const options = { method, headers, signal };
    const sent = isTls
      ? requestTls(url, { ...options, agent: connections.https, ...tlsOf(request) })
      : requestPlain(url, { ...options, agent: connections.http });
    const late = new RegistryError('stalled', `${title}: no answer in ${connections.stallMs} ms`);
    // Covers headers that come byte by byte, too.
    const timer = setTimeout(() => sent.destroy(late), connections.stallMs);
    sent.on('response', (response) => {
      clearTimeout(timer);
      response.setTimeout(connections.stallMs, () => {
        response.destroy(new RegistryError('stalled', `${title}: the answer has stalled`));
      });
      resolve({
        ...{ status: response.statusCode ?? 0, body: response, title },
        header: (name) => {
          const value = response.headers[name];
          return Array.isArray(value) ? value.join(', ') : value;
        },
      });
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      reject(signal.aborted ? signal.reason : describeFailure(error, title));
    });
    sent.end(body);
  });
}

function tlsOf({ isInsecure, certificateAuthority }: RegistryRequest) {
  return {
    rejectUnauthorized: !isInsecure,
    ...(certificateAuthority === undefined
      ? {}
      : { ca: [...rootCertificates, certificateAuthority] }),
  };
}

/** Of a small answer. `maxBytes` is checked before they are all here. */
export async function readBody(
  { body, title, header }: RegistryResponse,
  { maxBytes, stallMs }: { readonly maxBytes: number; readonly stallMs: number },
): Promise<Buffer> {
  const tooLarge = (): RegistryError =>
    new RegistryError('invalid', `${title}: the answer has more than ${maxBytes} bytes`);
  const parts: Buffer[] = [];
  let length = 0;
  // For the whole, so that single bytes cannot prolong it.
  const timer = setTimeout(() => {
    body.destroy(
      new RegistryError('stalled', `${title}: the answer has not ended in ${stallMs} ms`),
    );
  }, stallMs);
  try {
    if (Number(header('content-length') ?? 0) > maxBytes) throw tooLarge();
    for await (const part of body as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > maxBytes) throw tooLarge();
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    throw error instanceof RegistryError ? error : describeFailure(error as Error, title);
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}
