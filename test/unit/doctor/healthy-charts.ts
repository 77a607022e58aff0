// Sets of objects as widespread charts make them: many labels, several Services for one workload, objects of other kinds in between.
import type { HealthyManifests } from './project-manifests.ts';

/** Labels of a chart, as one line. */
const chart = (name: string, component?: string): string =>
  `{app.kubernetes.io/name: ${name}, app.kubernetes.io/instance: rel${component === undefined ? '' : `, app.kubernetes.io/component: ${component}`}}`;

const redis = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: rel-redis}
---
apiVersion: v1
kind: Service
metadata: {name: rel-redis-headless, labels: ${chart('redis')}}
spec:
  type: ClusterIP
  clusterIP: None
  ports: [{name: tcp-redis, port: 6379, targetPort: redis}]
  selector: ${chart('redis')}
---
apiVersion: v1
kind: Service
metadata: {name: rel-redis-master}
spec:
  type: ClusterIP
  internalTrafficPolicy: Cluster
  sessionAffinity: None
  ports: [{name: tcp-redis, port: 6379, targetPort: redis, nodePort: null}]
  selector: ${chart('redis', 'master')}
---
apiVersion: v1
kind: Service
metadata: {name: rel-redis-replicas}
spec:
  ports: [{name: tcp-redis, port: 6379, targetPort: redis}]
  selector: ${chart('redis', 'replica')}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: rel-redis-master}
spec:
  replicas: 1
  serviceName: rel-redis-headless
  selector: {matchLabels: ${chart('redis', 'master')}}
  template:
    metadata: {labels: ${chart('redis', 'master')}}
    spec:
      containers:
        - name: redis
          image: redis:7
          env: [{name: REDIS_PORT, value: "6379"}, {name: REDIS_REPLICATION_MODE, value: master}]
          ports: [{name: redis, containerPort: 6379}]
          readinessProbe: {exec: {command: [sh, -c, /health/ping_readiness_local.sh 1]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: rel-redis-replicas}
spec:
  replicas: 3
  serviceName: rel-redis-headless
  selector: {matchLabels: ${chart('redis', 'replica')}}
  template:
    metadata: {labels: ${chart('redis', 'replica')}}
    spec:
      enableServiceLinks: false
      containers:
        - name: redis
          image: redis:7
          env:
            - {name: REDIS_MASTER_HOST, value: rel-redis-master-0.rel-redis-headless.default.svc.cluster.local}
            - {name: REDIS_MASTER_PORT_NUMBER, value: "6379"}
          ports: [{name: redis, containerPort: 6379}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: rel-redis}
spec: {maxUnavailable: 1, selector: {matchLabels: ${chart('redis')}}}
`;

const ingressController = `
apiVersion: v1
kind: Namespace
metadata: {name: ingress-nginx}
---
apiVersion: v1
kind: Service
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  ipFamilyPolicy: SingleStack
  ipFamilies: [IPv4]
  ports:
    - {name: http, port: 80, protocol: TCP, targetPort: http, appProtocol: http}
    - {name: https, port: 443, protocol: TCP, targetPort: https, appProtocol: https}
  selector: ${chart('ingress-nginx', 'controller')}
---
apiVersion: v1
kind: Service
metadata: {name: ingress-nginx-controller-admission, namespace: ingress-nginx}
spec:
  ports: [{name: https-webhook, port: 443, targetPort: webhook, appProtocol: https}]
  selector: ${chart('ingress-nginx', 'controller')}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
spec:
  selector: {matchLabels: ${chart('ingress-nginx', 'controller')}}
  template:
    metadata: {labels: ${chart('ingress-nginx', 'controller')}}
    spec:
      dnsPolicy: ClusterFirst
      containers:
        - name: controller
          image: controller:1
          args: [/nginx-ingress-controller, --publish-service=$(POD_NAMESPACE)/ingress-nginx-controller, "--validating-webhook=:8443"]
          env: [{name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]
          ports: [{name: http, containerPort: 80}, {name: https, containerPort: 443}, {name: webhook, containerPort: 8443}]
          readinessProbe: {httpGet: {path: /healthz, port: 10254, scheme: HTTP}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: batch/v1
kind: Job
metadata: {name: ingress-nginx-admission-create, namespace: ingress-nginx}
spec:
  template:
    metadata: {labels: ${chart('ingress-nginx', 'admission-webhook')}}
    spec: {restartPolicy: OnFailure, containers: [{name: create, image: certgen:1}]}
`;

const system = `
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system, labels: {k8s-app: kube-dns, kubernetes.io/name: CoreDNS}}
spec:
  clusterIP: 10.96.0.10
  selector: {k8s-app: kube-dns}
  ports:
    - {name: dns, port: 53, protocol: UDP}
    - {name: dns-tcp, port: 53, protocol: TCP}
    - {name: metrics, port: 9153, protocol: TCP}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: coredns, namespace: kube-system}
spec:
  replicas: 2
  selector: {matchLabels: {k8s-app: kube-dns}}
  template:
    metadata: {labels: {k8s-app: kube-dns}}
    spec:
      dnsPolicy: Default
      containers:
        - name: coredns
          image: coredns:1.11
          args: [-conf, /etc/coredns/Corefile]
          ports:
            - {name: dns, containerPort: 53, protocol: UDP}
            - {name: dns-tcp, containerPort: 53, protocol: TCP}
            - {name: metrics, containerPort: 9153, protocol: TCP}
          readinessProbe: {httpGet: {path: /ready, port: 8181, scheme: HTTP}}
---
apiVersion: v1
kind: Service
metadata: {name: metrics-server, namespace: kube-system}
spec:
  selector: {k8s-app: metrics-server}
  ports: [{name: https, port: 443, protocol: TCP, targetPort: https, appProtocol: https}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: metrics-server, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: metrics-server}}
  template:
    metadata: {labels: {k8s-app: metrics-server}}
    spec:
      containers:
        - name: metrics-server
          image: metrics-server:0.7
          args: [--cert-dir=/tmp, --secure-port=10250, --kubelet-preferred-address-types=InternalIP]
          ports: [{name: https, containerPort: 10250}]
          readinessProbe: {httpGet: {path: /readyz, port: https, scheme: HTTPS}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec: {group: metrics.k8s.io, service: {name: metrics-server, namespace: kube-system}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-proxy, namespace: kube-system}
spec:
  selector: {matchLabels: {k8s-app: kube-proxy}}
  template:
    metadata: {labels: {k8s-app: kube-proxy}}
    spec: {hostNetwork: true, containers: [{name: kube-proxy, image: kube-proxy:1.36}]}
---
apiVersion: v1
kind: Service
metadata: {name: kubelet, namespace: kube-system, labels: {k8s-app: kubelet}}
spec:
  clusterIP: None
  ports: [{name: https-metrics, port: 10250}, {name: cadvisor, port: 4194}]
---
apiVersion: v1
kind: Endpoints
metadata: {name: kubelet, namespace: kube-system, labels: {k8s-app: kubelet}}
subsets:
  - addresses: [{ip: 192.0.2.61}]
    ports: [{name: https-metrics, port: 10250}, {name: cadvisor, port: 4194}]
---
apiVersion: v1
kind: Service
metadata: {name: kube-controller-manager, namespace: kube-system}
spec:
  clusterIP: None
  selector: {component: kube-controller-manager}
  ports: [{name: http-metrics, port: 10257, targetPort: 10257}]
---
apiVersion: v1
kind: Pod
metadata: {name: kube-controller-manager-n1, namespace: kube-system, labels: {component: kube-controller-manager, tier: control-plane}}
spec:
  hostNetwork: true
  containers: [{name: kube-controller-manager, image: kcm:1.36, command: [kube-controller-manager, --bind-address=0.0.0.0]}]
`;

const monitoring = `
apiVersion: v1
kind: Service
metadata: {name: prometheus-operated}
spec:
  clusterIP: None
  ports: [{name: web, port: 9090, targetPort: web}]
  selector: {app.kubernetes.io/name: prometheus}
---
apiVersion: v1
kind: Service
metadata: {name: rel-prometheus}
spec:
  ports: [{name: http-web, port: 9090, targetPort: 9090}, {name: reloader-web, port: 8080, appProtocol: http, targetPort: reloader-web}]
  selector: {app.kubernetes.io/name: prometheus, operator.prometheus.io/name: rel-prometheus}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: rel-prometheus}
spec: {replicas: 2, serviceName: prometheus-operated}
---
apiVersion: v1
kind: Service
metadata: {name: rel-grafana}
spec:
  ports: [{name: http-web, port: 80, protocol: TCP, targetPort: grafana}]
  selector: ${chart('grafana')}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: rel-grafana}
spec:
  selector: {matchLabels: ${chart('grafana')}}
  template:
    metadata: {labels: ${chart('grafana')}}
    spec:
      enableServiceLinks: true
      containers:
        - {name: sidecar, image: k8s-sidecar:1, env: [{name: REQ_URL, value: "http://localhost:3000/api/admin/reload"}]}
        - name: grafana
          image: grafana:11
          ports: [{name: grafana, containerPort: 3000}, {name: gossip-tcp, containerPort: 9094}, {name: gossip-udp, containerPort: 9094, protocol: UDP}]
---
apiVersion: v1
kind: Service
metadata: {name: rel-node-exporter, annotations: {prometheus.io/scrape: "true"}}
spec:
  ports: [{port: 9100, targetPort: 9100, protocol: TCP, name: http-metrics}]
  selector: ${chart('node-exporter')}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: rel-node-exporter}
spec:
  selector: {matchLabels: ${chart('node-exporter')}}
  template:
    metadata: {labels: ${chart('node-exporter')}}
    spec:
      hostNetwork: true
      hostPID: true
      containers:
        - name: node-exporter
          image: node-exporter:1
          args: ["--web.listen-address=[$(HOST_IP)]:9100"]
          env: [{name: HOST_IP, value: 0.0.0.0}]
          ports: [{name: http-metrics, containerPort: 9100, hostPort: 9100}]
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: rel-grafana}
spec: {endpoints: [{port: http-web}]}
`;

const wordpress = `
apiVersion: v1
kind: Secret
metadata: {name: mysql-pass}
stringData: {password: not-secret}
---
apiVersion: v1
kind: Service
metadata: {name: wordpress-mysql, labels: {app: wordpress}}
spec: {ports: [{port: 3306}], selector: {app: wordpress, tier: mysql}, clusterIP: None}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: mysql-pv-claim}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 20Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: wordpress-mysql}
spec:
  selector: {matchLabels: {app: wordpress, tier: mysql}}
  strategy: {type: Recreate}
  template:
    metadata: {labels: {app: wordpress, tier: mysql}}
    spec: {containers: [{name: mysql, image: "mysql:8", ports: [{containerPort: 3306, name: mysql}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: wordpress, labels: {app: wordpress}}
spec: {ports: [{port: 80}], selector: {app: wordpress, tier: frontend}, type: LoadBalancer}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: wordpress}
spec:
  selector: {matchLabels: {app: wordpress, tier: frontend}}
  template:
    metadata: {labels: {app: wordpress, tier: frontend}}
    spec:
      containers:
        - name: wordpress
          image: wordpress:6
          env: [{name: WORDPRESS_DB_HOST, value: wordpress-mysql}, {name: WORDPRESS_DB_USER, value: wordpress}]
          ports: [{containerPort: 80, name: wordpress}]
`;

const message = `
apiVersion: v1
kind: Service
metadata: {name: rabbit-headless}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  ports: [{name: epmd, port: 4369, targetPort: epmd}, {name: amqp, port: 5672, targetPort: amqp}, {name: dist, port: 25672, targetPort: dist}]
  selector: ${chart('rabbitmq')}
---
apiVersion: v1
kind: Service
metadata: {name: rabbit}
spec:
  ports: [{name: amqp, port: 5672, targetPort: amqp}, {name: http-stats, port: 15672, targetPort: stats}]
  selector: ${chart('rabbitmq')}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: rabbit}
spec:
  serviceName: rabbit-headless
  podManagementPolicy: OrderedReady
  replicas: 3
  selector: {matchLabels: ${chart('rabbitmq')}}
  template:
    metadata: {labels: ${chart('rabbitmq')}}
    spec:
      containers:
        - name: rabbitmq
          image: rabbitmq:3
          env: [{name: RABBITMQ_NODE_NAME, value: rabbit@$(MY_POD_NAME).rabbit-headless.default.svc.cluster.local}]
          ports:
            - {name: amqp, containerPort: 5672}
            - {name: dist, containerPort: 25672}
            - {name: stats, containerPort: 15672}
            - {name: epmd, containerPort: 4369}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Gi}}}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: consumer}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: consumer}, maxReplicas: 5}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: consumer}
spec:
  selector: {matchLabels: {app: consumer}}
  template:
    metadata: {labels: {app: consumer}}
    spec:
      containers:
        - name: consumer
          image: consumer:1
          env: [{name: AMQP_URL, value: "amqp://user:$(PASSWORD)@rabbit:5672/%2f"}, {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://otel-collector.observability:4317"}]
`;

const webhook = `
apiVersion: v1
kind: Service
metadata: {name: cert-manager-webhook, namespace: cert-manager}
spec:
  type: ClusterIP
  ports: [{name: https, port: 443, protocol: TCP, targetPort: https}, {name: metrics, port: 9402, protocol: TCP, targetPort: http-metrics}]
  selector: ${chart('webhook', 'webhook')}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cert-manager-webhook, namespace: cert-manager}
spec:
  replicas: 1
  selector: {matchLabels: ${chart('webhook', 'webhook')}}
  template:
    metadata: {labels: ${chart('webhook', 'webhook')}}
    spec:
      enableServiceLinks: false
      containers:
        - name: cert-manager-webhook
          image: webhook:1
          args: [--secure-port=10250, "--dynamic-serving-dns-names=cert-manager-webhook,cert-manager-webhook.$(POD_NAMESPACE).svc"]
          ports: [{name: https, protocol: TCP, containerPort: 10250}, {name: healthcheck, containerPort: 6080}, {name: http-metrics, containerPort: 9402}]
          readinessProbe: {httpGet: {path: /healthz, port: healthcheck}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: cert-manager-webhook}
webhooks: []
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: letsencrypt}
spec: {}
`;

const shop = `
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
  - apiVersion: v1
    kind: Service
    metadata: {name: cart, namespace: shop, annotations: {service.beta.kubernetes.io/aws-load-balancer-type: nlb}}
    spec: {ports: [{name: grpc, port: 7070, targetPort: 7070, appProtocol: grpc}], selector: {app: cart}}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: cart, namespace: shop}
    spec:
      selector: {matchLabels: {app: cart}}
      template:
        metadata: {labels: {app: cart}}
        spec:
          securityContext: {runAsNonRoot: true}
          containers:
            - name: server
              image: cart:1
              ports: [{containerPort: 7070}]
              env: [{name: REDIS_ADDR, value: "redis-cart:6379"}, {name: PORT, value: "7070"}]
              readinessProbe: {grpc: {port: 7070}}
  - apiVersion: v1
    kind: Service
    metadata: {name: redis-cart, namespace: shop}
    spec: {type: ClusterIP, selector: {app: redis-cart}, ports: [{name: tcp-redis, port: 6379, targetPort: 6379}]}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: redis-cart, namespace: shop}
    spec:
      selector: {matchLabels: {app: redis-cart}}
      template:
        metadata: {labels: {app: redis-cart}}
        spec: {containers: [{name: redis, image: "redis:alpine", ports: [{containerPort: 6379}]}]}
  - apiVersion: v1
    kind: Service
    metadata: {name: frontend-external, namespace: shop}
    spec: {type: LoadBalancer, selector: {app: frontend}, ports: [{name: http, port: 80, targetPort: 8080}]}
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: frontend, namespace: shop}
    spec:
      selector: {matchLabels: {app: frontend}}
      template:
        metadata: {labels: {app: frontend}}
        spec: {containers: [{name: server, image: frontend:1, ports: [{containerPort: 8080}], env: [{name: CART_SERVICE_ADDR, value: "cart:7070"}]}]}
`;

export const healthyCharts: readonly HealthyManifests[] = [
  { name: 'a replicated cache', manifests: redis },
  { name: 'an ingress controller', manifests: ingressController },
  { name: 'the system namespace', manifests: system },
  { name: 'monitoring by an operator', isPart: true, manifests: monitoring },
  { name: 'a site and its database', manifests: wordpress },
  { name: 'a message broker and a consumer', manifests: message },
  { name: 'an admission webhook', manifests: webhook },
  { name: 'a shop of several programs, as a List', manifests: shop },
];
