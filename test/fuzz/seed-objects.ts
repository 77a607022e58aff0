// A valid object of every kind to start from: what is wrong from the beginning never gets far into the server.

type Fields = Readonly<Record<string, unknown>>;

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const container = {
  name: 'c',
  image: 'app:1',
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'A', value: 'b' },
    { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ],
  resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1' } },
  readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 3 },
  volumeMounts: [{ name: 'v', mountPath: '/v' }],
};
const podSpec = {
  containers: [container],
  volumes: [{ name: 'v', configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } }],
  tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }],
      },
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
  ],
};
const template = { metadata: { labels }, spec: podSpec };
const job = {
  parallelism: 2,
  completions: 3,
  completionMode: 'Indexed',
  backoffLimitPerIndex: 1,
  maxFailedIndexes: 1,
  podFailurePolicy: {
    rules: [
      { action: 'FailIndex', onExitCodes: { operator: 'In', values: [1, 2] } },
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
    ],
  },
  successPolicy: { rules: [{ succeededIndexes: '0-1,2', succeededCount: 2 }] },
  template: { metadata: { labels }, spec: { ...podSpec, restartPolicy: 'Never' } },
};
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['a'] }];
const subjects = [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }];
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
const backend = { service: { name: 'a', port: { number: 80 } } };

/** By plural and group, as messages name resources. Kinds that are not here start from their schema. */
export const seedObjects: Readonly<Record<string, Fields>> = {
  configmaps: { data: { a: 'b' }, binaryData: { c: 'AP8=' } },
  secrets: { type: 'Opaque', data: { a: 'AP8=' }, stringData: { b: 'c' } },
  endpoints: {
    subsets: [{ addresses: [{ ip: '10.0.0.1', nodeName: 'n' }], ports: [{ port: 80, name: 'p' }] }],
  },
  events: {
    involvedObject: { kind: 'Pod', name: 'a', namespace: 'fuzz' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
    count: 1,
    firstTimestamp: '2024-01-01T00:00:00Z',
    source: { component: 'c' },
  },
  'events.events.k8s.io': {
    eventTime: '2024-01-01T00:00:00.000001Z',
    reportingController: 'a.b/c',
    reportingInstance: 'i',
    action: 'A',
    reason: 'R',
    type: 'Normal',
    regarding: { kind: 'Pod', name: 'a', namespace: 'fuzz' },
    series: { count: 2, lastObservedTime: '2024-01-01T00:00:00.000001Z' },
  },
  namespaces: { spec: { finalizers: ['kubernetes'] } },
  nodes: {
    spec: {
      podCIDR: '10.1.0.0/24',
      podCIDRs: ['10.1.0.0/24'],
      taints: [{ key: 'k', effect: 'NoSchedule' }],
    },
    status: { capacity: { cpu: '4' }, addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] },
  },
  pods: {
    spec: podSpec,
    status: {
      phase: 'Running',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  },
  replicationcontrollers: { spec: { replicas: 1, selector: labels, template } },
  serviceaccounts: { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 's' }] },
  services: {
    spec: {
      type: 'LoadBalancer',
      selector: labels,
      ports: [
        { name: 'p', port: 80, targetPort: 'http', nodePort: 30080 },
        { name: 'q', port: 53, protocol: 'UDP' },
      ],
      clusterIP: '10.96.0.99',
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
      externalIPs: ['192.0.2.9'],
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Cluster',
      healthCheckNodePort: 30100,
    },
    status: {
      loadBalancer: { ingress: [{ ip: '192.0.2.10', ports: [{ port: 80, protocol: 'TCP' }] }] },
    },
  },
  'deployments.apps': {
    spec: {
      replicas: 2,
      selector,
      template,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    },
  },
  'replicasets.apps': { spec: { replicas: 2, selector, template } },
  'jobs.batch': { spec: { ...job, suspend: true } },
  'cronjobs.batch': {
    spec: {
      schedule: '*/5 0-6 1,15 jan-mar mon',
      timeZone: 'Europe/Berlin',
      startingDeadlineSeconds: 10,
      concurrencyPolicy: 'Forbid',
      jobTemplate: { metadata: { labels }, spec: job },
    },
  },
  'poddisruptionbudgets.policy': {
    spec: { selector, minAvailable: '50%', unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  },
  'priorityclasses.scheduling.k8s.io': { value: 10, description: 'd', globalDefault: false },
  'leases.coordination.k8s.io': {
    spec: {
      holderIdentity: 'h',
      leaseDurationSeconds: 15,
      renewTime: '2024-01-01T00:00:00.000001Z',
      leaseTransitions: 1,
    },
  },
  'endpointslices.discovery.k8s.io': {
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        conditions: { ready: true },
        zone: 'z',
        hints: { forZones: [{ name: 'z' }] },
        targetRef: { kind: 'Pod', name: 'a', namespace: 'fuzz' },
      },
    ],
    ports: [{ name: 'p', port: 80, protocol: 'TCP', appProtocol: 'http' }],
  },
  'ingressclasses.networking.k8s.io': {
    spec: { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', scope: 'Cluster' } },
  },
  'ingresses.networking.k8s.io': {
    spec: {
      ingressClassName: 'a',
      defaultBackend: backend,
      tls: [{ hosts: ['a.b'], secretName: 's' }],
      rules: [{ host: 'a.b', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  },
  'ipaddresses.networking.k8s.io': {
    spec: { parentRef: { resource: 'services', namespace: 'fuzz', name: 'a' } },
  },
  'servicecidrs.networking.k8s.io': { spec: { cidrs: ['10.200.0.0/24', 'fd00:200::/112'] } },
  'clusterrolebindings.rbac.authorization.k8s.io': { roleRef, subjects },
  'rolebindings.rbac.authorization.k8s.io': { roleRef, subjects },
  'roles.rbac.authorization.k8s.io': { rules },
  'clusterroles.rbac.authorization.k8s.io': {
    rules: [...rules, { nonResourceURLs: ['/x'], verbs: ['get'] }],
    aggregationRule: { clusterRoleSelectors: [selector] },
  },
  'subjectaccessreviews.authorization.k8s.io': {
    spec: { user: 'u', groups: ['g'], resourceAttributes: { verb: 'get', resource: 'pods' } },
  },
  'localsubjectaccessreviews.authorization.k8s.io': {
    spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'fuzz' } },
  },
  'selfsubjectaccessreviews.authorization.k8s.io': {
    spec: { nonResourceAttributes: { verb: 'get', path: '/x' } },
  },
  'selfsubjectrulesreviews.authorization.k8s.io': { spec: { namespace: 'fuzz' } },
  'tokenreviews.authentication.k8s.io': { spec: { token: 't', audiences: ['a'] } },
};

/** What subresources take, by name. */
export const subresourceBodies: Readonly<Record<string, Fields>> = {
  binding: {
    kind: 'Binding',
    apiVersion: 'v1',
    metadata: { name: 'a' },
    target: { kind: 'Node', name: 'n' },
  },
  eviction: {
    kind: 'Eviction',
    apiVersion: 'policy/v1',
    metadata: { name: 'a' },
    deleteOptions: { gracePeriodSeconds: 0 },
  },
  scale: {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'a' },
    spec: { replicas: 2 },
  },
  token: {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: {
      audiences: ['a'],
      expirationSeconds: 3600,
      boundObjectRef: { kind: 'Pod', name: 'a', apiVersion: 'v1' },
    },
  },
};

export const deleteBody: Fields = {
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  gracePeriodSeconds: 0,
  propagationPolicy: 'Background',
  preconditions: { resourceVersion: '1', uid: 'u' },
  dryRun: ['All'],
};
