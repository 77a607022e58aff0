// Defaults of containers, in pods and pod templates.
import type { Container, ContainerPort, EphemeralContainer } from './container.ts';
import type { EnvVar, ObjectFieldSelector } from './environment.ts';
import { defaultPullPolicy } from './image-tag.ts';
import type { HttpGetAction, Lifecycle, LifecycleHandler, Probe } from './probe.ts';
import { roundRequirements } from './resources.ts';

export function defaultContainer<C extends Container | EphemeralContainer>(container: C): C {
  const { ports, env, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  return {
    ...container,
    ...(ports === undefined ? {} : { ports: ports.map(defaultPort) }),
    ...(env === undefined ? {} : { env: env.map(defaultEnvVar) }),
    ...(livenessProbe === undefined ? {} : { livenessProbe: defaultProbe(livenessProbe) }),
    ...(readinessProbe === undefined ? {} : { readinessProbe: defaultProbe(readinessProbe) }),
    ...(startupProbe === undefined ? {} : { startupProbe: defaultProbe(startupProbe) }),
    ...(lifecycle === undefined ? {} : { lifecycle: defaultLifecycle(lifecycle) }),
    resources: roundRequirements(container.resources),
    terminationMessagePath: container.terminationMessagePath || '/dev/termination-log',
    terminationMessagePolicy: container.terminationMessagePolicy || 'File',
    imagePullPolicy: container.imagePullPolicy || defaultPullPolicy(container.image ?? ''),
  };
}

/** Field paths have version v1 by default. */
export function defaultFieldSelector(selector: ObjectFieldSelector): ObjectFieldSelector {
  return { ...selector, apiVersion: selector.apiVersion || 'v1' };
}

function defaultPort(port: ContainerPort): ContainerPort {
  return port.protocol ? port : { ...port, protocol: 'TCP' };
}

function defaultEnvVar(variable: EnvVar): EnvVar {
  const fieldRef = variable.valueFrom?.fieldRef;
  if (fieldRef === undefined) return variable;
  return {
    ...variable,
    valueFrom: { ...variable.valueFrom, fieldRef: defaultFieldSelector(fieldRef) },
  };
}

function defaultProbe(probe: Probe): Probe {
  return {
    ...probe,
    ...(probe.httpGet === undefined ? {} : { httpGet: defaultHttpGet(probe.httpGet) }),
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
  };
}

function defaultHttpGet(action: HttpGetAction): HttpGetAction {
  return { ...action, path: action.path || '/', scheme: action.scheme || 'HTTP' };
}

function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  const { postStart, preStop } = lifecycle;
  return {
    ...lifecycle,
    ...(postStart === undefined ? {} : { postStart: defaultHandler(postStart) }),
    ...(preStop === undefined ? {} : { preStop: defaultHandler(preStop) }),
  };
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  if (handler.httpGet === undefined) return handler;
  return { ...handler, httpGet: defaultHttpGet(handler.httpGet) };
}
