// Parses the labels before the cluster's domain, from right to left, as CoreDNS does (plugin/kubernetes/parse.go):
//   SERVICE.NAMESPACE.svc · ENDPOINT.SERVICE.NAMESPACE.svc · _PORT._PROTOCOL.SERVICE.NAMESPACE.svc · DASHED-ADDRESS.NAMESPACE.pod

export type NameRequest = {
  readonly kind: 'svc' | 'pod';
  /** Absent: the name has no such label. */
  readonly namespace?: string;
  /** The name of a Service, or the dashed address of a pod. */
  readonly name?: string;
  readonly endpoint?: string;
  /** Without the underscore; '' matches any. */
  readonly port?: string;
  readonly protocol?: string;
};

/** `apex` for names that exist without records: the domain itself, `svc` and `pod`. Undefined for names that cannot exist. */
export function parseName(labels: readonly string[]): NameRequest | 'apex' | undefined {
  const kind = labels.at(-1);
  if (kind === undefined) return 'apex';
  if (kind !== 'svc' && kind !== 'pod') return undefined;
  if (labels.length === 1) return 'apex';
  const [namespace = '', name] = [labels.at(-2), labels.at(-3)];
  const rest = labels.slice(0, -3);
  const base = { kind, namespace, ...(name === undefined ? {} : { name }) } as const;
  const [first = '', second = ''] = rest;
  switch (rest.length) {
    case 0:
      return base;
    case 1:
      return { ...base, endpoint: first };
    case 2:
      return { ...base, port: withoutUnderscore(first), protocol: withoutUnderscore(second) };
    default:
      return undefined;
  }
}

function withoutUnderscore(label: string): string {
  return label.startsWith('_') ? label.slice(1) : label;
}
