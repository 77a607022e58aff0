// One malformed request, as the corpus keeps it and as it is sent.

export type Input = {
  readonly method: string;
  /** With its query, as it would stand in the request line. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Sent as the administrator; otherwise only its headers say who sends it. */
  readonly trusted: boolean;
};

/** As it stands in corpus.json: text where the body is text. */
export type Finding = {
  /** What it once did. */
  readonly why: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly base64?: string;
  readonly anonymous?: true;
};

export function inputOf({ method, path, headers = {}, text, base64, anonymous }: Finding): Input {
  const body = base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');
  return { method, path, headers, body, trusted: anonymous !== true };
}

export function findingOf(why: string, { method, path, headers, body, trusted }: Input): Finding {
  const text = Buffer.from(body).toString('utf8');
  const isText = Buffer.from(text).equals(body);
  return {
    why,
    method,
    path,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(body.length === 0
      ? {}
      : isText
        ? { text }
        : { base64: Buffer.from(body).toString('base64') }),
    ...(trusted ? {} : { anonymous: true }),
  };
}
