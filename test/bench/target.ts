// Where a load goes and as whom; plain data, because it is handed to worker threads.
export type Target = {
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** The server's own pair, with which the bare server is compared on equal terms. */
  readonly serverCert: string;
  readonly serverKey: string;
};

export type Protocol = 'http/1.1' | 'h2';
