// Objects of manifests, as people write them, from the fields that matter.

/** JSON is YAML. */
export function manifest(kind: string, apiVersion: string, name: string, fields: object): string {
  const { metadata, ...rest } = fields as { readonly metadata?: object };
  return `---\n${JSON.stringify({ apiVersion, kind, metadata: { name, ...metadata }, ...rest })}\n`;
}

type Container = Readonly<Record<string, unknown>>;

const containerOf = (container: Container): Container => ({
  name: 'app',
  image: 'example.com/app:1.0',
  ports: [{ name: 'http', containerPort: 8080 }],
  ...container,
});

export type WorkloadFields = {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  readonly container?: Container;
  readonly sidecars?: readonly Container[];
  readonly pod?: object;
  readonly spec?: object;
};

/** Pods with `app: web` and port http, 8080, unless the fields say otherwise. */
export function workload(kind: string, fields: WorkloadFields = {}): string {
  const { name = 'web', namespace, labels = { app: name }, replicas = 2, container = {} } = fields;
  const { sidecars = [], pod = {}, spec = {} } = fields;
  const template = {
    metadata: { labels },
    spec: { containers: [containerOf(container), ...sidecars], ...pod },
  };
  const counted = kind === 'DaemonSet' ? {} : { replicas };
  return manifest(kind, 'apps/v1', name, {
    metadata: { ...(namespace === undefined ? {} : { namespace }) },
    spec: { ...counted, selector: { matchLabels: labels }, template, ...spec },
  });
}

export const deployment = (fields: WorkloadFields = {}): string => workload('Deployment', fields);
export const statefulSet = (fields: WorkloadFields = {}): string =>
  workload('StatefulSet', {
    ...fields,
    spec: { serviceName: fields.name ?? 'web', ...fields.spec },
  });
export const daemonSet = (fields: WorkloadFields = {}): string => workload('DaemonSet', fields);

/** The Service `web`, port 80 to http, unless the spec says otherwise. */
export function service(spec: object = {}, name = 'web', namespace?: string): string {
  return manifest('Service', 'v1', name, {
    metadata: namespace === undefined ? {} : { namespace },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 'http' }], ...spec },
  });
}

export function ingress(backend: object, namespace?: string): string {
  return manifest('Ingress', 'networking.k8s.io/v1', 'web', {
    metadata: namespace === undefined ? {} : { namespace },
    spec: {
      rules: [
        {
          host: 'web.example.com',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: backend } }] },
        },
      ],
    },
  });
}

/** A Deployment that connects to others by its environment. */
export const client = (env: Readonly<Record<string, string>>, namespace?: string): string =>
  deployment({
    name: 'client',
    ...(namespace === undefined ? {} : { namespace }),
    container: { ports: [], env: Object.entries(env).map(([name, value]) => ({ name, value })) },
  });
