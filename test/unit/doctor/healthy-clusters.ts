import type { HealthyCase } from './case.ts';

export const healthyClusters: readonly HealthyCase[] = [
  {
    name: 'a Service and its pod',
    objects: `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, labels: {app: web}}
spec: {containers: [{name: app, image: app:1, ports: [{name: http, containerPort: 8080}]}]}
`,
  },
];
