// A classic balancer as AWS describes it.
import type { ClassicBalancer } from './world.ts';
import type { Xml } from './xml.ts';

export function classicXml(balancer: ClassicBalancer): Xml {
  return {
    LoadBalancerName: balancer.name,
    DNSName: balancer.hostname,
    Scheme: balancer.scheme,
    Subnets: balancer.subnets,
    SecurityGroups: balancer.groups,
    Instances: balancer.instances.map((InstanceId) => ({ InstanceId })),
    HealthCheck: balancer.healthCheck,
    Policies: {
      AppCookieStickinessPolicies: [],
      LBCookieStickinessPolicies: [],
      OtherPolicies: Object.keys(balancer.policies),
    },
    BackendServerDescriptions: Object.entries(balancer.backendPolicies).map(
      ([InstancePort, PolicyNames]) => ({ InstancePort, PolicyNames }),
    ),
    ListenerDescriptions: balancer.listeners.map((listener) => ({
      PolicyNames: listener.policies,
      Listener: {
        Protocol: listener.protocol,
        LoadBalancerPort: listener.port,
        InstanceProtocol: listener.instanceProtocol,
        InstancePort: listener.instancePort,
        SSLCertificateId: listener.certificate,
      },
    })),
  };
}
