// Objects of the tables, from the fields that matter, as YAML documents.

type Fields = {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
  readonly [field: string]: unknown;
};

/** JSON is YAML. */
function document(kind: string, apiVersion: string, { metadata, ...rest }: Fields): string {
  return `---\n${JSON.stringify({ apiVersion, kind, metadata: { name: 'web', ...metadata }, ...rest })}\n`;
}

/** The Service `web` for pods with `app: web`, port 80 to 8080. */
export function service({ metadata, spec, status }: Fields = {}): string {
  return document('Service', 'v1', {
    metadata: { ...metadata },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
    ...(status === undefined ? {} : { status }),
  });
}

export const http = { name: 'http', containerPort: 8080 };

/** The pod `web-1`, ready on node n1 unless it has a status. */
export function pod({ metadata, spec, status, container }: Fields = {}): string {
  return document('Pod', 'v1', {
    metadata: { name: 'web-1', labels: { app: 'web' }, ...metadata },
    spec: {
      containers: [{ name: 'app', image: 'app:1', ports: [http], ...(container as object) }],
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  });
}

/** A pod that runs and is not ready. */
export function unreadyPod(containerStatus: object, more: Fields = {}): string {
  const { status, ...rest } = more;
  return pod({
    ...rest,
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [
        {
          name: 'app',
          ready: false,
          restartCount: 0,
          image: 'app:1',
          imageID: '',
          ...containerStatus,
        },
      ],
      ...status,
    },
  });
}

/** The PodDisruptionBudget `web` for pods with `app: web`. */
export function budget({ spec, status }: Fields = {}): string {
  return document('PodDisruptionBudget', 'policy/v1', {
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    ...(status === undefined ? {} : { status }),
  });
}

export function node(name: string, { metadata, spec, status }: Fields = {}): string {
  return document('Node', 'v1', {
    metadata: { ...metadata, name },
    ...(spec === undefined ? {} : { spec }),
    status: { conditions: [{ type: 'Ready', status: 'True' }], ...status },
  });
}

export function deployment({
  metadata,
  spec,
  status,
  labels = { app: 'web' },
}: Fields = {}): string {
  return document('Deployment', 'apps/v1', {
    metadata: { ...metadata },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  });
}

/** A warning about the pod `web-1`, or another object. */
export function event(reason: string, message: string, about: object = {}): string {
  return document('Event', 'v1', {
    metadata: { name: `event-${reason.toLowerCase()}` },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'web-1', ...about },
    type: 'Warning',
    reason,
    message,
    lastTimestamp: '2026-11-19T11:59:00Z',
  });
}

export function slice({ metadata, ...rest }: Fields = {}): string {
  return document('EndpointSlice', 'discovery.k8s.io/v1', {
    metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' }, ...metadata },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints: [{ addresses: ['192.0.2.10'], conditions: { ready: true } }],
    ...rest,
  });
}

/** Owned by a controller of the kind. */
export const ownedBy = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-of-${name}`, controller: true }],
});
